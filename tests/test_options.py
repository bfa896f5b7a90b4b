"""Settings: environment beats file beats default, and a wrong value stops the start."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from config import options, written
from config.network import NetworkSetting

ROOT = Path(__file__).resolve().parent.parent
EDITORS = "vscode, zed, jetbrains, emacs, vim, or an address with {path} and perhaps {line}"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path


def load(data: Path, config: str | None = None, **environ: str) -> options.Options:
    if config is not None:
        (data / "svc.config.yaml").write_text(config)
    return options.load({"SVC_DATA_DIR": str(data), **environ})


def refused(data: Path, config: str | None = None, **environ: str) -> str:
    with pytest.raises(options.OptionError) as error:
        load(data, config, **environ)
    return str(error.value)


def test_the_environment_beats_the_file_and_the_file_beats_the_default(data):
    assert load(data).port == 8000
    assert load(data, "port: 8100").port == 8100
    assert load(data, "port: 8100", SVC_PORT="8200").port == 8200


def test_a_blank_variable_counts_as_unset(data):
    assert load(data, SVC_PORT="  ").port == 8000


def adopted(data: Path, text: str, **environ: str) -> dict[str, str]:
    (data / "service.env").write_text(text)
    found = {"SVC_DATA_DIR": str(data), **environ}
    written.adopt(found)
    del found["SVC_DATA_DIR"]
    return found


def test_a_command_in_a_shell_has_the_variables_of_the_service(data):
    lines = (
        '# of the desk\nexport SVC_PORT=8100\r\nA_KEY=\'a b\' \nB={"x": "="}\nno line\n1A=2\nC=\n'
    )

    assert adopted(data, lines) == {
        "SVC_PORT": "8100", "A_KEY": "a b", "B": '{"x": "="}', "C": "",
    }  # fmt: skip


@pytest.mark.parametrize("here", ["8200", ""])
def test_a_variable_of_the_shell_beats_that_of_the_service(data, here):
    assert adopted(data, "SVC_PORT=8100\n", SVC_PORT=here) == {"SVC_PORT": here}


def test_variables_of_the_service_that_cannot_be_read_stop_the_start(data):
    (data / "service.env").mkdir()

    with pytest.raises(options.OptionError, match="cannot be read: not a regular file"):
        written.adopt({"SVC_DATA_DIR": str(data)})


def test_local_users_are_uids_and_names(data):
    assert load(data).local_users == frozenset()
    assert load(data, SVC_LOCAL_USERS="1001, nobody, root").local_users == frozenset(
        {1001, 65534, 0}
    )
    assert load(data, "localUsers: [7, root]").local_users == frozenset({7, 0})
    assert load(data, SVC_LOCAL_USERS="*").local_users is None
    assert refused(data, SVC_LOCAL_USERS="nobody,no such user") == (
        'SVC_LOCAL_USERS has the value "no such user"; '
        "allowed: uids or names of users of this machine, or * for all of them"
    )


def test_an_editor_goes_by_its_name_or_by_an_address(data):
    assert load(data).editor_url == ""
    assert load(data, SVC_EDITOR_URL="Zed").editor_url == "zed://file{path}:{line}"
    assert load(data, "editorUrl: 'pycharm://open?file={path}'").editor_url == (
        "pycharm://open?file={path}"
    )


@pytest.mark.parametrize("word", ["1", "true", "YES", "on"])
def test_booleans_have_four_spellings_of_true(data, word):
    assert load(data, SVC_HOOKS_MCP=word).hooks_mcp is True


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("SVC_AUTH_MODE", "basic", "none, trusted-header, jwt"),
        ("SVC_PORT", "99999", "a whole number from 0 to 65535"),
        ("SVC_MAX_SPAWN_DEPTH", "-1", "a whole number of 0 or more"),
        ("SVC_SELF_MCP", "maybe", "1, true, yes, on, 0, false, no, off"),
        ("SVC_HOST", "example.org", "an IP address of this machine, e.g. 127.0.0.1 or ::1"),
        ("SVC_REVIEW_PORT", "closed", "a port from 0 to 65535, or off"),
        ("SVC_LOCAL_PORTS", "closed", "guarded, open"),
        ("SVC_MAX_RUNNING_TURNS", "0", "a whole number from 1 to 64"),
        ("SVC_EDITOR_URL", "nano", EDITORS),
        ("SVC_EDITOR_URL", "javascript:alert('{path}')", EDITORS),
        ("SVC_EDITOR_URL", "vscode://file{file}:{line}", EDITORS),
        ("SVC_TIMEZONE", "Berlin", 'the name of a time zone, e.g. "Europe/Berlin"'),
    ],
)
def test_a_value_outside_its_set_names_the_variable_the_value_and_the_set(
    data, name, value, allowed
):
    assert refused(data, **{name: value}) == f'{name} has the value "{value}"; allowed: {allowed}'


@pytest.mark.parametrize("kept", ["runDays", "auditDays", "checkpointDays"])
def test_history_is_kept_for_a_century_at_most(data, kept):
    assert load(data, f"retention: {{{kept}: 36500}}")
    assert refused(data, f"retention: {{{kept}: 999999}}") == (
        f'retention.{kept} has the value "999999"; '
        f"allowed: a whole number from {0 if kept == 'checkpointDays' else 1} to 36500"
    )


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("SVC_DATA_DIR", {"SVC_DATA_DIR": "~no-such/x"}),
        ("SVC_CONFIG", {"SVC_CONFIG": "~no-such/x"}),
        ("SVC_PROJECTS_DIR", {"SVC_PROJECTS_DIR": "~no-such/x"}),
        ("projectsDir", {"config": "projectsDir: ~no-such/x"}),
        ("engines.reads", {"config": "engines: {reads: [~/x, ~no-such/x]}"}),
    ],
)
def test_the_home_of_an_unknown_user_is_refused_by_the_name_of_the_setting(data, name, given):
    assert refused(data, **given) == (
        f'{name} has the value "~no-such/x"; '
        "allowed: a path whose ~ or ~name is the home of a known user"
    )


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("claud", ' (did you mean "claude"?)'),
        ("Claude", ' (did you mean "claude"?)'),
        ("buildin", ' (did you mean "builtin"?)'),
        ("llama3", ""),
    ],
)
def test_a_word_that_names_no_engine_stops_the_start(data, word, hint):
    told = (
        f'"{word}" names no engine; use runbook, claude, builtin, acp, '
        f"or one with its model, as claude:opus{hint}"
    )
    assert refused(data, SVC_ENGINE=word) == f"SVC_ENGINE: {told}"
    assert refused(data, f"engine: {word}") == f"engine: {told}"


@pytest.mark.parametrize("number", ["--5", "9" * 5000, "8_000", "1:30", "٣"])
def test_what_is_no_plain_whole_number_is_refused_not_guessed(data, number):
    assert refused(data, SVC_PORT=number).startswith("SVC_PORT has the value")
    assert refused(data, f"port: {number}").startswith("port has the value")


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("SVC_AUTH_TRUSTED_PEERS", "10.0.0.1, proxy.lan", 'the value "proxy.lan"'),
        ("SVC_AUTH_TRUSTED_PEERS", "10.0.0.1/33", "an IP address, a CIDR or one of"),
        ("SVC_AUTH_JWKS_URL", "ftp://keys.example.com", "an http(s) URL"),
        ("SVC_AUTH_JWKS_URL", "keys.json", "an http(s) URL"),
        ("SVC_LOCAL_MODEL_URL", "localhost:11434", "an http(s) URL"),
        ("SVC_ALLOWED_HOSTS", "https://svc.example.com", "host names without scheme or port"),
        ("SVC_ALLOWED_HOSTS", "ok.example.com, svc.local:8000", 'the value "svc.local:8000"'),
    ],
)
def test_a_peer_address_or_host_nobody_can_read_stops_the_start(data, name, value, allowed):
    message = refused(data, **{name: value})

    assert message.startswith(f"{name} has the value")
    assert allowed in message


@pytest.mark.parametrize("section", ["auth: jwt", "auth: [jwt]", "tls: 8443", "limits: 3"])
def test_a_section_that_is_no_mapping_stops_the_start(data, section):
    assert "; allowed: a mapping" in refused(data, section)


def test_an_empty_section_is_no_section(data):
    assert load(data, "auth:\nretention:\n").warnings == ()


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ("selfMcpEnabled: off\nselfMcpEnabled: on\n", "2:1: the key"),
        ("engine: x\nmanagementApi:\n  instanceId: !!timestamp 2026-13-45\n", "3:"),
        ("managementApi:\n  clients: &a\n    ci: *a\n", "3:"),
        ("port: \x00\n", "1:7: "),
        ("port: 1\n---\nport: 2\n", "2:1: "),
    ],
)
def test_a_file_read_two_ways_or_none_stops_the_start_in_one_line(data, config, place):
    message = refused(data, config)

    assert message.startswith(f"{data / 'svc.config.yaml'}:{place}")
    assert "\n" not in message


def test_the_file_is_read_as_yaml_1_2(data):
    loaded = load(data, "managementApi: {clients: {on: 1, 2026-13-45: 1}}\nscheduler: off\n")

    assert list(loaded.management_api["clients"]) == ["on", "2026-13-45"]
    assert loaded.scheduler is False


def test_a_value_in_the_file_is_refused_by_the_name_of_its_key(data):
    assert refused(data, "auth: {mode: basic}").startswith('auth.mode has the value "basic"')


def test_malformed_yaml_stops_the_start_with_file_line_and_column(data):
    message = refused(data, "port: [1\nhost: x")

    assert message.startswith(f"{data / 'svc.config.yaml'}:2:")


def test_a_file_that_is_no_mapping_stops_the_start(data):
    assert "must hold a mapping" in refused(data, "- a\n- b\n")


def test_a_named_config_file_that_is_missing_stops_the_start(data):
    assert "existing file" in refused(data, SVC_CONFIG=str(data / "gone.yaml"))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: path.symlink_to("/nowhere/svc.yaml"), "a link that leads to no file"),
        (lambda path: path.symlink_to(path.name), "Too many levels of symbolic links"),
        (Path.mkdir, "not a regular file"),
        (os.mkfifo, "not a regular file"),
    ],
)
def test_a_config_file_that_is_there_and_cannot_be_read_stops_the_start(data, make, reason):
    path = data / "svc.config.yaml"
    make(path)

    assert refused(data) == f"{path}:1:1: {reason}"
    assert refused(data, SVC_CONFIG=str(path)) == f"{path}:1:1: {reason}"


def test_a_config_file_in_a_folder_that_may_not_be_searched_stops_the_start(data):
    (data / "closed").mkdir(mode=0o000)

    if os.geteuid() == 0:
        pytest.skip("root may search every folder")
    assert "Permission denied" in refused(data / "closed")


def test_a_config_file_may_be_a_link_to_one(data, tmp_path_factory):
    kept = tmp_path_factory.mktemp("dotfiles") / "svc.yaml"
    kept.write_text("port: 8100")
    (data / "svc.config.yaml").symlink_to(kept)

    assert load(data).port == 8100


def test_unknown_keys_are_warned_about_with_the_nearest_known_key(data):
    loaded = load(data, "prot: 1\nauth: {mod: none}\n")

    assert loaded.warnings == (
        'config: unknown key "prot" ignored (did you mean "port"?)',
        'config: unknown key "auth.mod" ignored (did you mean "auth.mode"?)',
    )


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("SVC_TRUSTED_PROXIES", "SVC_MANAGEMENT_TRUSTED_PROXIES"),
        ("SVC_SANBOX", "SVC_SANDBOX"),
        ("SVC_PROJECT_DIR", "SVC_PROJECTS_DIR"),
        ("SVC_TOKEN_CL", "SVC_TOKEN_CI"),
    ],
)
def test_an_unknown_variable_is_told_with_the_nearest_known_one_and_without_its_value(
    data, name, meant
):
    config = "managementApi: {clients: {ci: {auth: {type: token, ref: 'env:SVC_TOKEN_CI'}}}}"

    loaded = load(data, config, SVC_TOKEN_CI="a", SVC_TURN_ID="t", SVC_PORT="", **{name: "secret"})

    told = f'environment: unknown variable "{name}" ignored (did you mean "{meant}"?)'
    assert loaded.warnings == (told,)


def test_no_variable_that_the_documents_name_is_told_as_unknown(data):
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "SECURITY.md"]
    named = {name for page in pages for name in re.findall(r"`(SVC_[A-Z_]+)`", page.read_text())}

    assert {"SVC_PORT", "SVC_MANAGEMENT_TRUSTED_PROXIES", "SVC_DASHBOARD_URL"} <= named
    assert written.variables(sorted(named), {}, options.variables()) == []


@pytest.mark.parametrize(
    ("config", "key", "meant"),
    [
        ("engines: {netwrok: off}", "engines.netwrok", "engines.network"),
        ("engines: {buildin: {model: x}}", "engines.buildin", "engines.builtin"),
        ("engines: {passKey: false}", "engines.passKey", "engines.claude.passKey"),
        ("engines: {claude: {passkey: no}}", "engines.claude.passkey", "engines.claude.passKey"),
        (
            "engines: {builtin: {contextTokns: 5}}",
            "engines.builtin.contextTokns",
            "engines.builtin.contextTokens",
        ),
        (
            "engines: {builtin: {openai: {baseURL: x}}}",
            "engines.builtin.openai.baseURL",
            "engines.builtin.openai.baseUrl",
        ),
        ("engines: {acp: {agent: {}}}", "engines.acp.agent", "engines.acp.agents"),
        ("tools: {wbe: {searchUrl: x}}", "tools.wbe", "tools.web"),
        (
            "tools: {web: {allowprivate: true}}",
            "tools.web.allowprivate",
            "tools.web.allowPrivate",
        ),
    ],
)
def test_an_unknown_key_is_told_at_any_depth_and_has_no_effect(data, config, key, meant):
    loaded = load(data, config)

    told = f'config: unknown key "{key}" ignored (did you mean "{meant}"?)'
    assert loaded.warnings == (told,)
    assert key.rpartition(".")[2] not in str([loaded.engines, loaded.tools])


def test_settings_of_engines_and_tools_arrive_as_they_are_written(data):
    text = """
engines:
  claude: {passKey: off, useHostLogin: yes, projectSettings: true, baseUrl: http://gateway}
  builtin: {model: m, requestSeconds: 5, contextTokens: {local: 8192}, openai: {baseUrl: u}}
  acp: {agents: {gemini: {command: [gemini]}}}
tools: {web: {allowPrivate: no, searchUrl: http://search}}
"""
    loaded = load(data, text)

    assert loaded.warnings == ()
    assert loaded.engines == {
        "claude": {
            "passKey": False,
            "useHostLogin": True,
            "projectSettings": True,
            "baseUrl": "http://gateway",
        },
        "builtin": {
            "model": "m",
            "requestSeconds": 5,
            "contextTokens": {"local": 8192},
            "openai": {"baseUrl": "u"},
        },
        "acp": {"agents": {"gemini": {"command": ["gemini"]}}},
    }
    assert loaded.tools == {"web": {"allowPrivate": False, "searchUrl": "http://search"}}
    assert load(data, "engines: {claude: }\ntools: {web: }").tools == {}


@pytest.mark.parametrize(
    ("config", "refusal"),
    [
        ("engines: {claude: {passKey: never}}", 'engines.claude.passKey has the value "never"'),
        ("engines: {claude: false}", 'engines.claude has the value "False"; allowed: a mapping'),
        ("tools: {web: {allowPrivate: [10]}}", "tools.web.allowPrivate has the value"),
        ("tools: [web]", "tools has the value"),
    ],
)
def test_a_wall_of_an_engine_or_a_tool_nobody_can_read_stops_the_start(data, config, refusal):
    assert refused(data, config).startswith(refusal)


def test_tls_needs_port_certificate_and_key_together(data):
    assert "go together" in refused(data, SVC_TLS_PORT="8443")


def test_jwt_mode_needs_the_address_of_the_keys(data):
    assert refused(data, SVC_AUTH_MODE="jwt").startswith("SVC_AUTH_JWKS_URL")


def test_problems_of_the_management_block_never_stop_the_start(data):
    assert load(data, "managementApi: 7").management_api == 7


def test_a_port_may_be_off_but_only_for_review_and_dashboard(data):
    assert load(data, "review: {port: off}").review_port is None
    assert load(data, SVC_DASHBOARD_PORT="off").dashboard_port is None
    assert "SVC_PORT" in refused(data, SVC_PORT="off")


def test_every_setting_reads_its_own_default_back(data):
    loaded = load(data)

    for name, option in options.OPTIONS.items():
        if option.env and isinstance(option.default, (int, str)) and str(option.default):
            assert getattr(load(data, **{option.env: str(option.default)}), name) == getattr(
                loaded, name
            )


def test_the_network_of_turns_is_a_word_or_a_map(data):
    assert load(data).network == NetworkSetting()
    assert load(data, "engines: {network: off}").network == NetworkSetting("off")
    text = "engines:\n  network: {hostPorts: [5432], allow: ['*.GitHub.com', 10.1.2.3/8], deny: []}"
    asked = NetworkSetting(None, (5432,), ("*.github.com", "10.0.0.0/8"), ())
    assert load(data, text).network == asked
    assert load(data, text).warnings == ()


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("false", 'false is not one of off, guarded, host; "off" is the word for no network'),
        ("no", '"no" is not one of off, guarded, host; "off" is the word for no network'),
        ("open", '"open" is not one of off, guarded, host'),
        ("[5432]", "a list is not one of off, guarded, host"),
        ("{mode: {}}", "a map is not one of off, guarded, host"),
        ("{ports: []}", '"ports" is not one of its keys: mode, hostPorts, allow, deny'),
        ("{hostPorts: 5432}", "hostPorts must be a list of at most 200 entries"),
        ("{hostPorts: [0]}", "hostPorts: 0 is not a port, a whole number from 1 to 65535"),
        ("{hostPorts: ['1']}", 'hostPorts: "1" is not a port, a whole number from 1 to 65535'),
        ("{hostPorts: [true]}", "hostPorts: true is not a port, a whole number from 1 to 65535"),
        ("{allow: a.org}", "allow must be a list of at most 200 entries"),
        ("{allow: [443]}", "allow: 443 is not a host in quotes"),
        ("{allow: ['https://a.org']}", '"https://a.org" has a scheme: give the host alone'),
        ("{allow: ['a.org:443']}", '"a.org:443" has a port or brackets'),
        ("{deny: ['[::1]']}", '"[::1]" has a port or brackets'),
        ("{deny: ['a.*.org']}", '"a.*.org" has a star where none can be'),
        ("{deny: ['*']}", '"*" has a star where none can be'),
        ("{deny: [a.org/x]}", '"a.org/x" is neither a network like 10.0.0.0/8 nor a host name'),
        ("{deny: [10.0.0.0/33]}", '"10.0.0.0/33" is neither a network'),
        ("{deny: [bücher.de]}", "has letters outside ASCII: give the form that is looked up"),
        ("{deny: ['127.1']}", '"127.1" is not a host name, *.name, an IP address or a network'),
        ("{deny: [a..b]}", '"a..b" is not a host name'),
        ("{deny: ['fe80::1%eth0']}", '"fe80::1%eth0" is not a host name'),
    ],
)
def test_a_network_nobody_can_read_stops_the_start_with_the_reason(data, written, reason):
    text = refused(data, f"engines: {{network: {written}}}")
    assert text.startswith("engines.network: ")
    assert reason in text
