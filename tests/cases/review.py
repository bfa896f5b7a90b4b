"""R1..R50: the cases of review, each with the tests that show it. See docs/design/review.md."""

from __future__ import annotations

REVIEW = "tests/review/"
API = f"{REVIEW}api/"
GIT = f"{REVIEW}git/"
REVIEWS = f"{REVIEW}threads/"
STACKS = f"{REVIEW}stacks/"
PLACED = f"{REVIEWS}test_placement.py::test_"
REBASED = f"{REVIEWS}test_rebases.py::test_"
CARRY = f"{REVIEWS}test_carry.py::test_"
THREADS = f"{REVIEWS}test_threads.py::test_"
WRITERS = f"{REVIEWS}test_many_writers.py::test_"
PROMISES = "tests/promises/"

CASES: dict[str, tuple[str, ...]] = {
    "R1": (
        f"{PLACED}a_file_that_a_rebase_leaves_alone_is_exact",
        f"{REBASED}a_rebased_commit_shows_the_review_of_the_old_one_and_reading_writes_nothing",
    ),
    "R2": (
        f"{PLACED}edits_above_move_the_lines",
        f"{REBASED}a_rebased_commit_shows_the_review_of_the_old_one_and_reading_writes_nothing",
    ),
    "R3": (
        f"{PLACED}a_changed_line_is_outdated_and_keeps_its_row",
        f"{PLACED}a_range_with_one_changed_line_is_outdated_and_becomes_one_line",
        f"{REVIEWS}test_records.py::test_an_outdated_thread_keeps_its_last_good_anchor",
    ),
    "R4": (
        f"{PLACED}a_block_that_moved_within_the_file_is_found_by_its_text",
        f"{PLACED}a_reindented_line_is_found_by_its_text",
    ),
    "R5": (f"{PLACED}a_deleted_block_leads_to_the_line_after_it_within_the_file",),
    "R6": (f"{PLACED}a_line_inserted_inside_widens_the_range",),
    "R7": (
        f"{PLACED}the_old_side_goes_from_old_parent_to_new_parent",
        f"{PLACED}a_range_from_the_old_side_to_the_new_is_placed_end_by_end",
    ),
    "R8": (
        f"{PLACED}a_rename_below_is_followed",
        f"{PLACED}a_rename_in_the_commit_itself_is_followed",
    ),
    "R9": (
        f"{PLACED}a_file_that_left_has_no_line_and_comes_back_in_place",
        f"{REBASED}a_thread_whose_file_left_is_counted_until_the_file_is_back_and_then_in_place",
    ),
    "R10": (f"{PLACED}a_brace_does_not_jump_to_another_brace",),
    "R11": (
        f"{PLACED}without_the_old_objects_the_stored_text_is_looked_for",
        f"{REBASED}a_pruned_commit_is_found_by_its_fingerprint_and_placed_by_its_text",
    ),
    "R12": (
        f"{REBASED}ids_survive_five_rebases_with_edits_replies_and_amends",
        f"{REVIEWS}test_records.py::test_five_rebases_in_a_row_keep_every_id",
    ),
    "R13": (f"{REBASED}an_amended_message_is_found_by_its_patch_and_amended_content_by_its_date",),
    "R14": (
        f"{REBASED}a_base_edit_next_to_the_change_is_seen_through",
        f"{GIT}test_patches.py::test_a_base_edit_in_the_context_changes_only_the_id_with_context",
    ),
    "R15": (
        f"{REBASED}two_reworked_commits_of_one_subject_get_no_review_by_it_and_the_repo_says_so",
        f"{CARRY}an_equal_subject_of_two_reworked_commits_is_no_match_and_is_told",
    ),
    "R16": (
        f"{REBASED}commits_of_one_author_second_are_told_apart_by_subject",
        f"{CARRY}two_commits_with_one_author_second_are_told_apart_by_subject",
        f"{CARRY}one_author_second_without_an_equal_subject_is_no_match",
    ),
    "R17": (
        f"{REBASED}back_by_reset_and_forward_again_nothing_is_missing_and_nothing_resurrected",
        f"{REBASED}what_was_written_into_the_old_file_by_hand_after_going_back_is_shown_too",
        f"{STACKS}test_following.py::test_going_back_shows_the_record_that_was_written_last",
    ),
    "R18": (
        f"{REBASED}a_squash_shows_all_threads_and_says_which_came_from_the_second",
        f"{REVIEWS}test_records.py::test_the_threads_of_a_squashed_commit_say_where_they_come_from",
    ),
    "R19": (f"{REBASED}a_split_keeps_the_threads_together_where_the_message_stayed",),
    "R20": (
        f"{REBASED}empty_commits_are_not_taken_for_each_other",
        f"{CARRY}an_empty_patch_id_or_change_id_matches_nothing",
        f"{STACKS}test_commit.py::test_empty_commits_have_no_files",
    ),
    "R21": (
        f"{REBASED}a_dropped_commit_is_an_orphan_until_it_is_picked_again",
        f"{STACKS}test_project.py::"
        "test_a_dropped_commit_leaves_an_orphan_that_comes_back_by_cherry_pick",
    ),
    "R22": (
        f"{API}test_commits.py::test_reading_everything_writes_nothing",
        f"{STACKS}test_project.py::test_reading_writes_nothing_below_the_projects_directory",
        f"{REVIEW}test_example_story.py::test_reading_them_writes_nothing",
    ),
    "R23": (
        f"{REBASED}the_first_write_takes_everything_over_and_leaves_the_old_file_alone",
        f"{REBASED}an_own_file_made_by_hand_beside_a_matching_source_shows_and_then_writes_both",
        f"{WRITERS}the_first_writes_on_a_carried_commit_take_it_over_once",
    ),
    "R24": (
        f"{REBASED}a_viewed_mark_survives_while_the_diff_is_the_same",
        f"{REVIEWS}test_viewed.py::test_a_mark_survives_a_rebase_with_an_equal_diff",
        f"{REVIEWS}test_viewed.py::test_a_mark_falls_when_the_diff_changes",
        f"{STACKS}test_commit.py::test_a_viewed_file_is_told_until_it_changes",
    ),
    "R25": (
        f"{STACKS}test_project.py::test_short_shas_that_look_like_numbers_are_read_as_text",
        f"{REVIEWS}test_schema.py::test_shas_made_of_digits_stay_the_digits_they_are",
    ),
    "R26": (
        f"{THREADS}only_the_touched_node_of_a_hand_made_file_changes",
        f"{THREADS}every_body_comes_back_as_it_was_sent",
    ),
    "R27": (f"{THREADS}comments_in_the_file_stay_where_they_are_after_an_append",),
    "R28": (
        f"{API}test_crowds.py::test_both_parts_write_one_project_file_many_times_and_lose_nothing",
        f"{REVIEW}test_project_writes.py::test_both_parts_write_at_once_and_lose_nothing",
        f"{REVIEW}test_project_writes.py::test_every_byte_of_the_keys_of_others_survives",
        f"{REVIEW}test_project_writes.py::test_odd_files_of_others_survive",
    ),
    "R29": (
        f"{WRITERS}a_save_between_reading_and_swapping_is_merged",
        f"{WRITERS}eight_clients_reply_while_people_edit",
        f"{REVIEW}test_writing.py::test_an_editors_save_that_slips_in_is_kept",
    ),
    "R30": (
        f"{WRITERS}a_half_saved_file_is_waited_for",
        f"{WRITERS}an_editor_that_saves_through_an_old_handle_loses_nothing",
        f"{REVIEW}test_writing.py::test_a_half_written_file_is_waited_for",
        f"{REVIEW}test_files.py::test_a_file_saved_in_two_steps_is_not_called_broken",
    ),
    "R31": (
        f"{API}test_crowds.py::test_eight_clients_write_many_replies_each",
        f"{WRITERS}eight_clients_reply_while_people_edit",
    ),
    "R32": (
        f"{WRITERS}a_killed_writer_leaves_a_whole_file_and_all_it_acknowledged",
        f"{API}test_crowds.py::"
        "test_a_service_killed_under_eight_writers_has_kept_all_it_acknowledged",
        f"{PROMISES}test_f1_kill.py::"
        "test_a_killed_writer_leaves_whole_files_and_all_it_acknowledged",
        f"{REVIEW}test_background.py::test_a_start_removes_what_a_killed_writer_left",
    ),
    "R33": (
        f"{API}test_broken_files.py::test_a_file_that_cannot_be_read_is_told_and_left_as_it_is",
        f"{THREADS}a_broken_file_shows_the_last_good_review_and_is_not_written",
        f"{API}test_projects.py::test_a_broken_project_is_listed_and_read_but_not_written",
    ),
    "R34": (
        f"{API}test_broken_files.py::test_a_review_file_linked_within_its_project_is_written_through_its_link",
        f"{API}test_broken_files.py::"
        "test_a_folder_that_is_read_only_is_told_and_heals_without_a_restart",
        f"{THREADS}what_the_disk_refuses_is_told_and_changes_nothing",
    ),
    "R35": (
        f"{WRITERS}a_save_between_reading_and_swapping_is_merged",
        f"{API}test_poor_system.py::test_eight_clients_reply_at_once_and_lose_nothing",
        f"{API}test_poor_system.py::test_hand_edits_are_told",
        f"{API}test_poor_system.py::"
        "test_an_edit_and_refs_of_a_linked_worktree_are_told_and_a_write_once",
        f"{REVIEW}test_background.py::test_without_notifications_everything_is_found_by_polling",
    ),
    "R36": (
        f"{STACKS}test_status.py::test_the_first_rule_that_holds_decides",
        f"{STACKS}test_landed.py::test_a_pull_request_publishes_until_a_status_is_set",
        f"{STACKS}test_landed.py::test_ready_then_fast_forward_is_merged",
        f"{STACKS}test_landed.py::test_an_explicit_status_holds_against_the_same_landing_only",
        f"{API}test_commits.py::test_a_bad_pr_record_is_refused",
    ),
    "R37": (
        f"{STACKS}test_landed.py::test_each_kind_of_evidence_shows_a_landing",
        f"{STACKS}test_landed.py::test_what_left_the_range_by_landing_stays_listed",
        f"{STACKS}test_landed.py::test_landed_commits_show_where_they_landed_and_what_is_diffed",
    ),
    "R38": (
        f"{STACKS}test_branches.py::test_a_branch_says_where_its_name_points_now",
        f"{STACKS}test_landed.py::test_a_recorded_branch_is_found_on_a_remote_too",
    ),
    "R39": (
        f"{API}test_threads.py::test_only_own_comments_are_edited_and_deleted",
        f"{API}test_threads.py::test_a_whole_conversation",
    ),
    "R40": (
        f"{API}test_projects.py::test_a_stack_note_is_guarded_by_the_title",
        f"{API}test_projects.py::test_the_implicit_stack_gets_an_entry_with_its_note",
        f"{REVIEW}test_project_writes.py::test_a_blank_note_is_removed",
    ),
    "R41": (
        f"{API}test_events.py::test_hand_edits_are_told",
        f"{API}test_events.py::test_a_new_project_is_told_of_however_it_is_made",
        f"{API}test_events.py::"
        "test_refs_that_move_are_told_packed_ones_and_those_of_a_linked_worktree",
        f"{API}test_events.py::test_each_write_of_the_server_is_told_exactly_once",
    ),
    "R42": (
        f"{API}test_commits.py::test_a_short_sha_of_several_commits_is_ambiguous",
        f"{API}test_commits.py::test_a_sha_may_be_short_and_in_any_case",
        f"{API}test_commits.py::test_a_sha_outside_the_range_is_told_at_length",
        f"{STACKS}test_commit.py::test_a_short_sha_is_ambiguous_only_within_the_range",
    ),
    "R43": (
        f"{API}test_rules.py::test_only_hosts_of_this_machine_are_answered",
        f"{API}test_rules.py::test_exactly_one_host_is_named",
        f"{API}test_rules.py::test_only_pages_of_this_machine_write",
        f"{API}test_rules.py::test_a_write_of_another_site_is_refused",
        f"{API}test_rules.py::test_a_preflight_fails",
        f"{API}test_rules.py::"
        "test_a_forwarded_request_is_not_local_under_the_mount_and_nothing_on_the_port",
    ),
    "R44": (
        f"{API}test_rules.py::test_a_write_is_json",
        f"{API}test_rules.py::test_a_delete_needs_no_type_and_no_body",
    ),
    "R45": (
        f"{API}test_assets.py::test_what_is_no_image_is_refused_and_not_kept",
        f"{API}test_assets.py::test_five_megabytes_are_allowed",
        f"{API}test_assets.py::test_an_image_is_kept_by_its_hash_and_once",
        f"{PROMISES}test_g3_gate.py::"
        "test_an_image_over_five_megabytes_is_refused_before_six_have_come",
    ),
    "R46": (
        f"{API}test_assets.py::test_an_image_is_served_with_headers_that_let_nothing_run",
        f"{API}test_assets.py::test_no_other_name_is_an_asset",
    ),
    "R47": (
        f"{API}test_examples.py::test_a_life_of_the_examples",
        f"{API}test_examples.py::test_a_project_of_that_name_is_in_the_way",
        f"{REVIEW}test_examples.py::test_two_at_once_are_one_and_get_the_same",
        f"{REVIEW}test_examples.py::test_removing_while_one_is_added_is_refused",
        f"{REVIEW}test_examples.py::test_what_was_written_into_an_example_comes_back_with_it",
    ),
    "R48": (
        f"{API}test_pictures.py::test_an_svg_is_680_wide_and_a_png_twice_that",
        f"{API}test_pictures.py::test_each_option_changes_the_picture",
        f"{API}test_pictures.py::test_a_bad_option_is_refused",
        f"{API}test_pictures.py::test_any_title_is_drawn_as_text",
        f"{REVIEW}test_pictures.py::test_titles_are_really_drawn",
        f"{REVIEW}test_pictures.py::test_hostile_text_is_text",
    ),
    "R49": (
        f"{API}test_big_commits.py::"
        "test_a_commit_of_2000_files_is_whole_and_its_first_screen_small",
        f"{API}test_big_commits.py::"
        "test_a_file_of_20000_lines_is_shown_with_the_edits_of_git_and_its_threads",
        f"{API}test_commits.py::test_a_big_commit_comes_whole_in_pieces",
    ),
    "R50": (
        f"{API}test_mcp.py::test_reads_answer_what_rest_answers",
        f"{API}test_mcp.py::test_writes_answer_what_rest_answers",
        f"{API}test_mcp.py::test_other_methods_and_types_are_refused_as_json_rpc_errors",
        f"{API}test_mcp.py::test_an_unknown_tool_is_a_tool_error",
        f"{API}test_reindex.py::"
        "test_a_database_deleted_under_the_running_service_is_made_again_by_reindex",
        f"{API}test_reindex.py::"
        "test_after_a_reindex_and_without_the_old_database_all_answers_are_the_same",
    ),
}

LATER: dict[str, tuple[str, ...]] = {
    "R49": ("no task of the page over 200 ms: the pages of the review part",),
}
