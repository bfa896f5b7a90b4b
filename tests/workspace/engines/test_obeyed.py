"""What everybody's git obeys is not a turn's to write; what is done with git every day works."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.review.repos import Repo
from tests.workspace.chats.turns.world import World, book, fence, only, until
from tests.workspace.engines.test_sandbox import bash, confined, inside
from workspace.chats.turns import jobs
from workspace.engines import obeyed

IDENTITY = (
    "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b\n"
)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def repo(world: World) -> Repo:
    """The project's directory, cloned from a repository in it, with a branch that is only there."""
    source = Repo(world.project / "source")
    source.commit({"a.txt": "one\n"}, "Begin")
    source.branch("topic")
    source.commit({"b.txt": "two\n"}, "Go on")
    source.checkout("main")
    made = Repo(world.project)
    made.git("remote", "add", "origin", str(source.path))
    made.git("fetch", "-q")
    made.git("reset", "-q", "--hard", "origin/main")
    return made


def obeyed_by_git(repo: Repo) -> dict[str, bytes]:
    """Every file of `.git` that names what git runs, and those through which it would name more."""
    git = repo.path / ".git"
    names = ("config", "config.worktree", "commondir", "info/attributes")
    files = [*(git / name for name in names), *git.glob("hooks/*")]
    return {str(path): path.read_bytes() for path in files if path.is_file()}


ARMED = {
    "a hook": "echo x > .git/hooks/pre-commit",
    "the configuration": "echo x >> .git/config",
    "the attributes": "echo '* filter=x' > .git/info/attributes",
    "the configuration of a worktree": "echo x > .git/config.worktree",
    "another folder of hooks": "mv .git/hooks old && mkdir .git/hooks",
    "another folder of rules": "mv .git/info old; mkdir .git/info; echo x > .git/info/attributes",
    "another repository": "mv .git old; cp -r old .git && echo x >> .git/config",
    "a removed one": "rm -rf .git; git init -q && git config a.b c",
    "a configuration for later": "echo x > .git/config.worktree",
    "a detour": "mkdir fake && echo ../fake > .git/commondir",
}


@inside
@pytest.mark.parametrize("how", ARMED)
def test_no_command_arms_the_git_of_the_directorys_user(world: World, repo: Repo, how: str):
    Path(repo.path / ".git/info/attributes").write_bytes(b"")
    if how != "a configuration for later":  # which git does not read yet
        repo.git("config", "extensions.worktreeConfig", "true")
        Path(repo.path / ".git/config.worktree").write_bytes(b"")
    before = obeyed_by_git(repo)

    bash(world, ARMED[how], mode="default", tools=["Bash"])

    assert obeyed_by_git(repo) == before
    assert not (repo.path / ".git").is_symlink()


@inside
@pytest.mark.parametrize("folder", [".bare", "kept/bare", "."])
def test_no_command_arms_a_bare_repository_of_the_directory_either(
    world: World, tmp_path: Path, folder: str
):
    source = Repo(tmp_path / "apart")
    source.commit({"a.txt": "one\n"}, "Begin")
    bare = world.project / folder
    source.git("clone", "-q", "--bare", "--no-hardlinks", ".", str(world.project / "made"))
    if folder == ".":
        for part in (world.project / "made").iterdir():
            part.rename(bare / part.name)
    else:
        bare.parent.mkdir(exist_ok=True)
        (world.project / "made").rename(bare)
        (world.project / ".git").write_text(f"gitdir: ./{folder}\n")
    before = (bare / "config").read_bytes(), sorted((bare / "hooks").iterdir())

    work = "git worktree add -q w main && git -C w commit -q --allow-empty -m x && echo fine"
    assert bash(world, IDENTITY + work, mode="default", tools=["Bash"]) == "fine"

    arm = f"echo x >> {folder}/config; touch {folder}/hooks/x; mv {folder} y; mv kept z"
    said = bash(world, arm, mode="default", tools=["Bash"])

    assert ((bare / "config").read_bytes(), sorted((bare / "hooks").iterdir())) == before, said


@inside
def test_what_is_missing_is_made_empty_and_changes_nothing_for_git(world: World, repo: Repo):
    git = repo.path / ".git"
    for name in ("hooks", "info"):
        for path in (git / name).glob("*"):
            path.unlink()
        (git / name).rmdir()
    before = repo.git("config", "--list"), repo.git("check-attr", "-a", "a.txt")

    bash(world, "touch .git/hooks/pre-commit .git/info/attributes", mode="default", tools=["Bash"])

    assert (repo.git("config", "--list"), repo.git("check-attr", "-a", "a.txt")) == before
    assert list((git / "hooks").iterdir()) == []
    assert (git / "info/attributes").read_bytes() == b""
    assert not (git / "config.worktree").exists()


@inside
def test_in_bypass_permissions_and_in_no_repository_all_of_it_is_the_turns(
    world: World, repo: Repo
):
    assert "[exit" not in bash(world, "git config a.b c && touch .git/hooks/x")
    (repo.path / "plain").mkdir()
    assert obeyed.of(str(repo.path / "plain")) == obeyed.Obeyed()
    assert not (repo.path / "plain/.git").exists()


@inside
def test_the_file_that_names_a_repository_stays_and_links_are_left_alone(
    world: World, repo: Repo, tmp_path: Path
):
    (repo.path / ".git").rename(tmp_path / "apart")
    told = f"gitdir: {tmp_path}/apart\n"
    (repo.path / ".git").write_text(told)

    bash(world, "echo 'gitdir: x' > .git; rm -f .git; mv .git x", mode="default", tools=["Bash"])

    assert (repo.path / ".git").read_text() == told
    for odd in ("gitdir: a\0b", "gitdir: ..", "gitdir: .git", ""):
        (repo.path / ".git").write_text(odd)
        assert obeyed.of(str(repo.path)) == obeyed.Obeyed(covered=(str(repo.path / ".git"),))
    (repo.path / ".git").unlink()
    (repo.path / ".git").symlink_to(tmp_path / "apart")
    assert obeyed.of(str(repo.path)) == obeyed.Obeyed()
    assert bash(world, "echo fine", mode="default", tools=["Bash"]) == "fine"


@inside
def test_a_linked_hook_folder_starts_the_turn_all_the_same(world: World, repo: Repo):
    hooks = repo.path / ".git/hooks"
    hooks.rename(repo.path / "own-hooks")
    hooks.symlink_to("../own-hooks")

    assert bash(world, "echo fine", mode="default", tools=["Bash"]) == "fine"
    assert str(hooks) not in obeyed.of(str(repo.path)).covered


@inside
@pytest.mark.parametrize("lack", ["none", "a link"])
def test_a_repository_without_its_folder_of_rules_starts_the_turn_all_the_same(
    world: World, repo: Repo, monkeypatch, tmp_path: Path, lack: str
):
    info = repo.path / ".git/info"
    info.rename(tmp_path / "info")
    if lack == "a link":
        info.symlink_to(tmp_path / "info")
    monkeypatch.setattr(obeyed, "_make", lambda *_: None)  # as where it cannot be written

    assert info.is_symlink() == (lack == "a link")
    assert obeyed.of(str(repo.path)).pinned == (str(repo.path / ".git"),)
    assert bash(world, "echo fine", mode="default", tools=["Bash"]) == "fine"


@inside
def test_a_detour_goes_with_the_directory_of_a_turn_that_was_killed(world: World, repo: Repo):
    detour = repo.path / ".git/commondir"
    prompt = book(fence("Bash", "echo ../fake > .git/commondir; sleep 60"))
    job = world.job(prompt, **confined(world), mode="default", tools=["Bash"])
    running = world.start(job)
    until(detour.exists, bool)
    running.child.kill()
    running.end()
    assert detour.exists()

    jobs.discard(Path(job.run_dir))

    assert not detour.exists()
    assert not Path(job.run_dir).exists()


@inside
def test_what_the_user_has_git_read_meanwhile_stays(world: World, repo: Repo):
    prompt = book(fence("Bash", "touch begun; until [ -e over ]; do sleep 0.05; done"))
    job = world.job(prompt, **confined(world), mode="default", tools=["Bash"])
    running = world.start(job)
    until((repo.path / "begun").exists, bool)
    repo.git("sparse-checkout", "set", "--no-cone", "a.txt")
    told = (repo.path / ".git/config.worktree").read_bytes()
    (repo.path / "over").touch()

    running.end()
    jobs.discard(Path(job.run_dir))

    assert (repo.path / ".git/config.worktree").read_bytes() == told


@inside
@pytest.mark.parametrize("mode", ["default", "bypassPermissions"])
def test_what_belongs_to_worktrees_elsewhere_is_not_the_turns(
    world: World, repo: Repo, tmp_path: Path, mode: str
):
    repo.git("worktree", "add", "-q", "-b", "theirs", str(tmp_path / "theirs"))
    repo.git("worktree", "add", "-q", "-b", "mine", str(repo.path / "mine"))
    theirs = repo.path / ".git/worktrees/theirs"
    before = {path: path.read_bytes() for path in theirs.rglob("*") if path.is_file()}

    bash(
        world,
        "echo /fake > .git/worktrees/theirs/commondir; echo x > .git/worktrees/theirs/x\n"
        "mv .git/worktrees/theirs away; mv .git/worktrees all; git worktree prune\n"
        "git worktree remove mine; git worktree add -q -b third third",
        mode=mode,
        tools=["Bash"],
    )

    assert {path: path.read_bytes() for path in theirs.rglob("*") if path.is_file()} == before
    assert Repo(tmp_path / "theirs").git("status", "--porcelain") == ""
    assert repo.git("worktree", "list").count("\n") == 2
    assert (repo.path / "third/a.txt").exists()


@inside
def test_of_many_worktrees_elsewhere_the_folder_is_covered(world: World, repo: Repo, monkeypatch):
    monkeypatch.setattr(obeyed, "MOST", 1)
    for name in ("one", "two"):
        repo.git("worktree", "add", "-q", "-b", name, str(repo.path.parent / name))

    found = obeyed.of(str(repo.path))

    folder = str(repo.path / ".git/worktrees")
    assert [path for path in found.covered if path.startswith(folder)] == [folder]


@inside
@pytest.mark.parametrize("mode", ["default", "plan"])
def test_in_plan_mode_nothing_is_made_and_nothing_can_be_written(
    world: World, repo: Repo, mode: str
):
    attributes = repo.path / ".git/info/attributes"

    bash(world, "touch .git/x .git/info/x", mode=mode, tools=["Bash"])

    assert attributes.exists() == (mode == "default")
    assert (repo.path / ".git/x").exists() == (mode == "default")


DAILY = """
set -e
echo one more >> a.txt
git switch -q -c feature
git commit -qam 'Change it'
git switch -q main
git switch -q topic                       # of the remote: what it tracks is not written down
git checkout -q -b other origin/topic
git branch --no-track third origin/main
git branch -D third
git switch -q feature
echo two more >> a.txt
git stash -q
git stash pop -q
git commit -qam 'And again'
git fetch -q origin
git rebase -q origin/topic
git merge -q --no-ff main
git tag v1
git worktree add -q beside topic
git -C beside commit -q --allow-empty -m 'Beside it'
git worktree remove beside
git gc -q
git cherry-pick --allow-empty topic
git push -q origin feature
git clone -q source again
git init -q fresh
git log --format=%s -1 feature
"""


@inside
def test_what_is_done_with_git_every_day_works(world: World, repo: Repo):
    records = world.run(
        book(fence("Bash", IDENTITY + DAILY)), **confined(world), mode="default", tools=["Bash"]
    )

    assert only(records, "turn_end")["status"] == "ok", only(records, "tool_result")["text"]
    assert repo.git("fsck", "--strict", "--no-dangling") == ""
    assert repo.git("rev-parse", "feature") == Repo(repo.path / "source").git(
        "rev-parse", "feature"
    )


@inside
@pytest.mark.parametrize(
    "asked", ["config user.name x", "remote add o /x", "config core.hooksPath ."]
)
def test_what_must_fail_fails_with_gits_own_words(world: World, repo: Repo, asked: str):
    said = bash(world, f"git {asked}", mode="default", tools=["Bash"])

    assert "could not write config file .git/config" in said
    assert "[exit status" in said
    assert not os.path.lexists(repo.path / ".git/config.lock")
