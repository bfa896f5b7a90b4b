"""What the pages owe, each with the tests that show it. See docs/design/pages.md.

UR: review. UD: the dashboard. UW: the workspace. UX: what the pages needed of the API. UA: every
page. The numbers are ids.
"""

from __future__ import annotations

B = "tests/browser/"
LOOK = f"{B}test_look.py::test_"
KIT = f"{B}test_kit.py::test_"
LOST = f"{B}test_connection.py::test_"
PROJECTS = f"{B}test_review_projects.py::test_"
PROJECT = f"{B}test_review_project.py::test_"
COMMIT = f"{B}test_review_commit.py::test_"
THREADS = f"{B}test_review_threads.py::test_"
CARRIED = f"{B}test_review_carried.py::test_"
APPS = f"{B}test_dashboard.py::test_"
GRID = f"{B}test_dashboard_page.py::test_"
ACTS = f"{B}test_dashboard_acts.py::test_"
DRAWER = f"{B}test_dashboard_drawer.py::test_"
LOGS = f"{B}test_dashboard_logs.py::test_"
EDITOR = f"{B}test_dashboard_editor.py::test_"
HOME = f"{B}test_home.py::test_"
ONE = f"{B}test_project_pages.py::test_"
CHAT = f"{B}test_chat.py::test_"
LONG = f"{B}test_chat_long.py::test_"
TRIGGERS = f"{B}test_triggers.py::test_"
RECORDS = f"{B}test_records.py::test_"
MORE = f"{B}test_workspace_acts.py::test_"
FIRST = f"{B}test_first_five_minutes.py::test_"
W = "tests/workspace/"
EXPORT = f"{W}chats/test_export.py::test_"
TRASH = f"{W}chats/test_trash.py::test_"
SEARCH = f"{W}chats/test_search.py::test_"

REVIEW = {
    # 1 the list of projects
    "UR1": (
        f"{PROJECTS}a_newcomer_adds_the_examples_with_one_click_and_puts_them_away",
        f"{PROJECTS}a_repository_is_opened_and_errors_stand_at_their_field",
        f"{PROJECTS}the_list_is_filtered_and_walked_by_keyboard",
    ),
    # 2 the page of a project: notes in place, stacks, warnings, picture
    "UR2": (
        f"{PROJECT}stacks_show_what_a_reader_needs_and_lead_to_the_commits",
        f"{PROJECT}the_intro_is_written_in_place_with_preview_draft_and_undo",
        f"{PROJECT}a_note_whose_stack_was_retitled_is_kept_and_can_be_saved_there",
        f"{PROJECT}warnings_come_first_and_each_has_its_way_out",
    ),
    # 3 the page of a commit
    "UR3": (
        f"{COMMIT}the_head_the_rail_and_the_tree_say_what_the_commit_is",
        f"{COMMIT}every_kind_of_change_is_shown_as_what_it_is",
        f"{COMMIT}an_image_is_compared_by_swipe_and_as_onion_skin",
        f"{COMMIT}folded_lines_open_by_button_and_by_key",
        f"{COMMIT}two_columns_are_chosen_by_m_and_remembered",
        f"{COMMIT}the_tree_is_filtered_walked_and_folded_by_keys",
    ),
    # 4 big commits
    "UR4": (f"{COMMIT}a_large_file_waits_to_be_asked_for_and_files_load_on_approach",),
    # 5 comments
    "UR5": (
        f"{THREADS}a_line_is_commented_answered_settled_and_opened_again",
        f"{THREADS}ranges_files_and_the_commit_are_commented",
        f"{THREADS}images_are_kept_and_what_is_none_is_refused_with_its_reason",
        f"{THREADS}own_comments_are_edited_and_deleted_and_those_of_others_are_not",
        f"{COMMIT}lines_are_chosen_by_keys_by_press_and_by_drag",
    ),
    # 6 outdated threads and carried-over reviews
    "UR6": (f"{CARRIED}carried_threads_say_where_they_stand_and_what_changed",),
    # 7 live, and no text is lost
    "UR7": (
        f"{COMMIT}what_others_do_arrives_without_moving_the_reader",
        f"{THREADS}what_arrives_leaves_text_caret_and_scroll_as_they_are",
        f"{THREADS}unsent_text_is_there_again_after_a_reload_and_after_a_rebase",
        f"{THREADS}a_refused_or_lost_comment_stays_in_its_box_until_it_can_be_sent",
    ),
    # 8 viewed marks
    "UR8": (
        f"{COMMIT}files_are_marked_viewed_by_key_by_box_and_by_folder_and_undone",
        f"{COMMIT}a_mark_that_fell_off_and_a_commit_that_went_away_are_said",
    ),
    # 9 the PR record
    "UR9": (f"{CARRIED}the_pr_record_says_its_sources_and_errors_at_their_field",),
    # 10 files that do not parse
    "UR10": (
        f"{PROJECTS}a_broken_project_says_where_and_keeps_the_last_good_view",
        f"{PROJECT}warnings_come_first_and_each_has_its_way_out",
        f"{THREADS}a_refused_or_lost_comment_stays_in_its_box_until_it_can_be_sent",
    ),
    # 11 keys, looks, no other host
    "UR11": (
        f"{PROJECT}the_page_is_walked_by_keyboard",
        f"{COMMIT}keys_lead_between_commits_and_up",
        f"{COMMIT}a_key_that_comes_before_the_scripts_is_kept_for_them",
        f"{COMMIT}lines_are_chosen_by_keys_by_press_and_by_drag",
        f"{COMMIT}the_page_fits_and_has_sheets_on_a_phone",
        f"{LOOK}pages_fit_keep_still_and_have_no_axe_violation",
        f"{THREADS}everything_about_a_thread_is_done_by_keys",
        f"{THREADS}no_press_of_resolve_is_lost_while_the_service_is_slow",
        f"{CARRIED}threads_fit_read_and_are_reached_in_both_looks",
        "tests/review/test_markdown.py::test_what_is_no_address_stays_as_it_was_written",
    ),
    # 12 what changed since
    "UR12": (
        f"{CARRIED}carried_threads_say_where_they_stand_and_what_changed",
        "tests/review/api/test_commits.py::test_what_changed_in_a_file_since_it_was_viewed",
    ),
    # 13 copy as Markdown
    "UR13": (
        f"{THREADS}threads_are_copied_as_markdown",
        f"{PROJECT}open_threads_are_copied_as_markdown",
    ),
    # 14 hide white space
    "UR14": (f"{COMMIT}white_space_is_hidden_or_shown_on_demand",),
    # 15 the open threads of a project, with jump
    "UR15": (
        f"{PROJECT}the_page_is_walked_by_keyboard",
        f"{PROJECT}changes_arrive_in_place_and_the_focus_stays",
    ),
}

DASHBOARD = {
    # 1 tiles by group, what needs attention first, counts that filter
    "UD1": (
        f"{GRID}apps_stand_by_group_and_what_needs_attention_comes_first",
        f"{APPS}counts_choose_what_is_shown",
    ),
    # 2 state and reason, never stale green
    "UD2": (
        f"{ACTS}what_is_down_says_why_and_since_when",
        f"{APPS}a_page_left_open_over_a_reboot_says_so_and_gives_back_what_it_took",
    ),
    # 3 start, stop, restart
    "UD3": (
        f"{APPS}a_service_is_started_and_stopped_by_keyboard_and_keeps_the_focus",
        f"{APPS}a_stop_is_asked_about_only_when_the_app_should_always_run",
        f"{APPS}a_start_that_fails_opens_its_log_and_says_why",
        f"{ACTS}letters_restart_an_app_open_its_log_and_lead_to_what_listens",
        f"{DRAWER}the_head_says_how_it_is_and_offers_what_can_be_done",
    ),
    # 4 the drawer and its logs
    "UD4": (
        f"{DRAWER}the_overview_tells_what_it_is_and_where_its_file_lies",
        f"{DRAWER}reload_and_back_lead_where_the_address_says",
        f"{LOGS}the_last_200_are_shown_and_what_comes_is_followed",
        f"{LOGS}it_waits_while_someone_reads_and_older_lines_come_on_scrolling_up",
        f"{LOGS}find_counts_and_goes_from_hit_to_hit",
        f"{LOGS}colours_and_levels_are_shown_and_nothing_else_of_a_terminal",
        f"{LOGS}lines_are_copied_and_the_whole_log_is_downloaded",
    ),
    # 5 bars of the history
    "UD5": (
        f"{DRAWER}bars_of_the_history_are_read_by_arrow_keys_and_a_gap_is_a_gap",
        "tests/js/kit/bars.test.js::drawings say in words what they show",
    ),
    # 6 sparkline
    "UD6": ("tests/js/kit/bars.test.js::drawings say in words what they show",),
    # 7 what a restart of the machine took
    "UD7": (
        f"{APPS}a_page_left_open_over_a_reboot_says_so_and_gives_back_what_it_took",
        f"{ACTS}what_a_reboot_took_and_cannot_start_says_why_and_all_is_dismissed_at_once",
    ),
    # 8 what listens without a file
    "UD8": (
        f"{APPS}what_somebody_starts_is_found_claimed_and_followed_without_a_reload",
        f"{APPS}a_name_that_is_no_file_name_is_refused_where_it_was_typed",
        f"{APPS}what_is_ignored_leaves_by_a_rule_and_comes_back_with_undo",
        f"{APPS}what_the_network_reaches_says_so",
        f"{EDITOR}rules_of_what_is_ignored_are_edited_as_a_file",
        f"{ACTS}letters_restart_an_app_open_its_log_and_lead_to_what_listens",
    ),
    # 9 bookmarks
    "UD9": (
        f"{APPS}a_bookmark_has_its_letter_until_its_icon_is_there",
        f"{GRID}bookmarks_are_added_changed_opened_by_their_key_and_taken_out",
        f"{ACTS}a_group_of_bookmarks_is_made_and_stays_folded",
    ),
    # 10 search and keys
    "UD10": (
        f"{GRID}the_filter_leaves_what_fits_and_esc_shows_all_again",
        f"{GRID}arrows_move_in_two_directions_and_letters_act_on_the_focused_app",
        f"{ACTS}letters_restart_an_app_open_its_log_and_lead_to_what_listens",
        f"{DRAWER}tabs_are_walked_and_the_drawer_is_left_by_keyboard",
    ),
    # 11 errors of files
    "UD11": (
        f"{APPS}an_error_in_a_file_is_told_with_its_line_until_it_is_mended",
        f"{ACTS}the_banner_of_a_broken_file_copies_its_path_and_opens_its_text",
    ),
    # 12 the editor
    "UD12": (
        f"{EDITOR}a_text_is_saved_byte_for_byte_and_undone",
        f"{EDITOR}a_mistake_is_told_at_its_line_and_nothing_is_written",
        f"{EDITOR}a_conflict_shows_both_texts_and_loses_neither",
        f"{EDITOR}what_is_typed_is_back_after_a_reload_and_can_be_discarded_and_had_back",
    ),
    # 13 both themes, motion, a polite word
    "UD13": (
        f"{APPS}a_full_page_fits_and_has_no_axe_violation",
        f"{ACTS}a_state_pulses_only_for_those_who_want_motion",
        f"{GRID}what_is_new_waits_while_apps_are_selected_and_changes_are_announced",
    ),
    # 14 a phone
    "UD14": (
        f"{APPS}a_full_page_fits_and_has_no_axe_violation",
        f"{DRAWER}every_tab_fits_and_has_no_axe_violation",
    ),
    # 15 palette
    "UD15": (
        f"{KIT}the_palette_leads_to_all_three_parts_by_keyboard",
        f"{KIT}an_action_of_the_page_stands_first_when_it_matches_and_is_done",
    ),
    # 16 pictures of one and of all
    "UD16": (
        f"{ACTS}pictures_are_taken_of_one_app_and_of_all",
        f"{GRID}a_picture_that_cannot_be_taken_says_why",
    ),
    # 17 several apps at once
    "UD17": (
        f"{GRID}several_apps_take_one_patch_and_undo_puts_their_files_back",
        f"{GRID}what_one_app_of_several_refuses_stands_by_its_name",
    ),
    # 19 new apps and groups
    "UD19": (
        f"{GRID}a_new_app_is_described_by_keyboard_and_its_errors_stand_at_their_fields",
        f"{ACTS}a_group_of_bookmarks_is_made_and_stays_folded",
    ),
    # 20 the list
    "UD20": (f"{GRID}the_list_is_chosen_sorted_and_remembered",),
    # 21 removed items
    "UD21": (f"{GRID}a_removed_app_is_back_by_undo_or_from_the_list_of_what_was_removed",),
    # 22 title and icon of the tab
    "UD22": (f"{GRID}apps_stand_by_group_and_what_needs_attention_comes_first",),
}

WORKSPACE = {
    "UW-home": (
        f"{HOME}home_says_what_matters_and_lists_projects_by_area",
        f"{HOME}projects_are_filtered_by_state_and_by_words_and_the_address_keeps_it",
        f"{HOME}a_project_is_made_by_keys_with_errors_at_their_field",
        f"{HOME}a_new_project_waits_while_somebody_is_in_the_list",
    ),
    "UW-project": (
        f"{ONE}a_project_shows_chats_notes_triggers_and_what_is_unread",
        f"{ONE}chats_are_found_by_name_and_by_text_and_the_message_is_a_jump_away",
        f"{ONE}settings_say_what_is_inherited_and_a_save_can_be_undone",
    ),
    "UW-chat": (
        f"{CHAT}an_answer_is_whole_markdown_and_an_edit_is_drawn_as_lines",
        f"{CHAT}a_running_command_is_shown_until_it_ends_also_after_a_reload",
        f"{CHAT}stop_ends_the_turn_and_holds_what_waits",
        f"{CHAT}a_waiting_message_is_taken_out_of_the_queue",
        f"{CHAT}a_fork_from_an_earlier_turn_ends_there",
        f"{CHAT}a_denied_command_fails_the_turn_and_it_can_be_run_again",
        f"{CHAT}a_turn_that_failed_says_why_and_what_to_do_next",
        f"{CHAT}a_picture_goes_with_a_message_and_is_shown_in_it",
        f"{CHAT}a_chat_is_used_by_keyboard_alone",
        f"{LONG}what_one_reads_does_not_move_when_an_answer_comes",
        f"{MORE}a_picture_is_pasted_and_its_place_is_named_in_the_prompt",
        f"{FIRST}a_person_gets_from_nothing_to_a_run_of_a_trigger",
    ),
    "UW-triggers": (
        f"{MORE}the_list_of_triggers_says_when_each_fires_and_why_its_last_run_failed",
        f"{MORE}an_event_hook_is_made_from_what_the_catalogue_offers",
        f"{TRIGGERS}a_schedule_explains_itself_and_says_what_is_wrong_as_one_types",
        f"{TRIGGERS}each_error_stands_at_its_field",
        f"{TRIGGERS}a_legacy_schedule_is_converted_with_one_click",
        f"{TRIGGERS}an_invalid_entry_is_listed_with_its_line_and_stays_untouched",
        f"{TRIGGERS}triggers_are_used_by_keyboard_alone",
        f"{FIRST}a_person_gets_from_nothing_to_a_run_of_a_trigger",
    ),
    "UW-records": (
        f"{RECORDS}runs_are_filtered_and_the_address_keeps_the_filters",
        f"{RECORDS}a_run_unfolds_to_its_record_and_leads_to_its_chat",
        f"{RECORDS}a_run_comes_in_live_and_is_cancelled_while_its_line_stays_open",
        f"{RECORDS}clients_show_what_they_may_do_and_how_they_connect",
        f"{RECORDS}calls_on_the_endpoint_stand_in_the_audit",
    ),
}

API = {
    "UX-delete": (
        f"{TRASH}a_deleted_chat_is_nowhere_and_its_bytes_are_in_the_trash",
        f"{TRASH}a_chat_comes_back_as_it_was",
        f"{CHAT}a_deleted_chat_leaves_the_list_and_comes_back_with_undo",
        f"{ONE}a_chat_is_deleted_undone_deleted_again_and_restored_from_the_list",
    ),
    "UX-export": (
        f"{EXPORT}markdown_tells_who_said_what_when_and_what_the_tools_did",
        f"{EXPORT}json_lines_are_the_lines_of_the_transcript",
        f"{CHAT}a_chat_is_exported_as_the_file_its_name_says",
    ),
    "UX-unread": (
        f"{W}chats/test_unread.py::test_a_chat_is_unread_from_the_end_of_a_turn_until_it_is_read",
        f"{CHAT}what_nobody_has_seen_is_marked_until_it_is_opened",
    ),
    "UX-search": (
        f"{SEARCH}parts_of_words_are_found_in_any_case_with_and_without_accents",
        f"{SEARCH}reindex_makes_the_search_anew",
        f"{CHAT}words_in_messages_are_found_and_lead_to_their_message",
        f"{ONE}messages_of_all_projects_are_searched",
    ),
    "UX-pause": (
        f"{W}api/test_people.py::test_every_list_says_what_is_paused",
        f"{HOME}all_triggers_are_paused_and_undone_and_every_list_says_so",
        f"{TRIGGERS}pausing_is_said_in_the_list_and_ends_with_undo",
    ),
    "UX-attachments": (
        f"{W}chats/test_attachments.py::test_a_prompt_names_its_files_at_its_end_once_each",
        f"{CHAT}a_picture_goes_with_a_message_and_is_shown_in_it",
    ),
}

ALL = {
    # 1 one look, both themes and widths
    "UA1": (f"{LOOK}pages_fit_keep_still_and_have_no_axe_violation",
            f"{KIT}a_chosen_theme_is_there_from_the_first_paint_and_the_system_can_have_it_back"),
    # 2 keys and palette
    "UA2": (
        f"{KIT}keys_are_listed_by_group_and_rest_while_someone_types_or_a_dialog_is_open",
        f"{KIT}the_palette_leads_to_all_three_parts_by_keyboard",
    ),
    # 3 live, drafts, a lost connection
    "UA3": (
        f"{KIT}a_draft_survives_a_reload_until_it_is_sent",
        f"{LOST}every_part_says_that_the_connection_is_lost_and_turns_its_shapes_hollow",
        f"{CHAT}a_cut_connection_misses_nothing_and_repeats_nothing",
    ),
    # 4 empty, loading, error, conflict, long work, undo
    "UA4": (
        f"{KIT}a_skeleton_comes_late_and_goes_when_the_node_is_filled",
        f"{KIT}a_later_message_leaves_an_undo_its_place_and_its_time",
        f"{KIT}an_error_that_nobody_caught_says_so_in_the_page",
        f"{TRIGGERS}an_entry_changed_by_hand_is_not_overwritten_unseen",
        f"{EDITOR}a_conflict_shows_both_texts_and_loses_neither",
    ),
    # 5 axe, no inline script, big input
    "UA5": (
        f"{LOOK}pages_fit_keep_still_and_have_no_axe_violation",
        f"{KIT}the_shell_fits_and_has_no_axe_violation_on_every_port",
        f"{LONG}five_thousand_messages_open_at_the_end_and_unfold_upwards",
        f"{LOGS}a_very_long_log_and_very_long_lines_leave_the_page_quick",
    ),
    # 6 the first click of a newcomer
    "UA6": (
        f"{FIRST}a_person_gets_from_nothing_to_a_run_of_a_trigger",
        f"{PROJECTS}a_newcomer_adds_the_examples_with_one_click_and_puts_them_away",
        f"{GRID}a_page_without_apps_tells_the_first_step_and_does_it",
    ),
}  # fmt: skip

CASES = REVIEW | DASHBOARD | WORKSPACE | API | ALL
