"""D1..D50: the test cases of the dashboard, and what of them waits."""

from __future__ import annotations

D = "tests/dashboard/"
WRITING = f"{D}files/test_writing.py::test_"
READING = f"{D}files/test_reading.py::test_"
PROPERTIES = f"{D}files/test_properties.py::test_"
TEXT = f"{D}files/test_text.py::test_"
REMOVAL = f"{D}files/test_removal.py::test_"
STATES = f"{D}health/test_states.py::test_"
PROBE = f"{D}health/test_probe.py::test_"
RUNNER = f"{D}health/test_runner.py::test_"
FLAPPING = f"{D}health/test_flapping.py::test_"
SCHEDULE = f"{D}health/test_schedule.py::test_"
SCAN = f"{D}listeners/test_scan.py::test_"
OBSERVED = f"{D}listeners/test_observed.py::test_"
OWNERS = f"{D}listeners/test_owners.py::test_"
FIGURES = f"{D}listeners/test_figures.py::test_"
WINDOWS = f"{D}history/test_windows.py::test_"
FAILURES = f"{D}history/test_failures.py::test_"
ACTIONS = f"{D}services/test_actions.py::test_"
ADOPTION = f"{D}services/test_adoption.py::test_"
POLICY = f"{D}services/test_policy.py::test_"
ENVIRONMENT = f"{D}services/test_environment.py::test_"
LOGS = f"{D}services/test_logs.py::test_"
THUMBS = f"{D}rendering/test_thumbs.py::test_"
ICONS = f"{D}rendering/test_icons.py::test_"
FETCH = f"{D}rendering/test_fetch.py::test_"

API = f"{D}api/"
GUARDED = f"{API}test_guarded.py::test_"
ROUTES = f"{API}test_routes.py::test_"
STRICT = f"{API}test_strict.py::test_"
APPS = f"{API}test_apps.py::test_"
BOOKMARKS = f"{API}test_bookmarks.py::test_"
INSTANCE = f"{API}test_instance.py::test_"
CLAIMS = f"{API}test_observed.py::test_"
SERVICES = f"{API}test_services.py::test_"
LIVE_FILES = f"{D}daemon/test_files.py::test_"
LIVE_LISTENERS = f"{D}daemon/test_listeners.py::test_"
LIVE_SERVICES = f"{D}daemon/test_services.py::test_"
MATCHING = f"{D}registry/test_matching.py::test_"
REBOOT = f"{D}reboot/test_reboot.py::test_"
NOTICE = f"{D}reboot/test_notice.py::test_"
RESTART = f"{D}reboot/test_restart.py::test_"
PICTURES = f"{D}pictures/test_served.py::test_"
TOOLS = f"{D}agents/test_tools.py::test_"
GUIDE = f"{D}agents/test_guide.py::test_"
ESCAPE = f"{D}agents/test_escape.py::test_"
STREAM = f"{D}test_stream.py::test_"
CLAUSES = f"{API}test_cases_writes.py::test_"
REAL = f"{D}daemon/test_cases_states.py::test_"
SLEEP = f"{D}history/test_sleep.py::test_"
LIMITS = f"{D}test_cases_stream.py::test_"
LOOK = f"{D}files/test_look.py::test_"
FOUND = f"{D}agents/test_found.py::test_"
EVENTS = "tests/config/test_events.py::test_"

CASES: dict[str, tuple[str, ...]] = {
    "D8": (
        f"{READING}only_a_slug_names_a_file",
        f"{READING}every_slug_names_a_file",
        f"{ROUTES}a_name_that_is_no_slug_touches_nothing",
        f"{ROUTES}a_hidden_slash_ends_no_name",
        f"{CLAUSES}a_write_to_an_escaped_name_touches_nothing",
    ),
    "D9": (
        f"{WRITING}a_new_file_is_private_and_its_etag_is_the_hash_of_its_bytes",
        f"{WRITING}the_same_put_again_does_not_touch_the_file",
        f"{APPS}a_put_declares_an_app_and_the_same_put_changes_nothing",
        f"{LOOK}a_write_that_changes_nothing_leaves_the_same_object",
        f"{CLAUSES}a_write_that_changes_nothing_is_told_to_nobody",
    ),
    "D10": (
        f"{CLAUSES}a_patch_of_an_odd_file_leaves_every_other_byte",
        f"{WRITING}a_patch_leaves_every_other_byte_of_an_odd_file_alone",
        f"{PROPERTIES}a_patch_touches_no_line_but_those_of_what_it_changes",
    ),
    "D11": (
        f"{WRITING}a_stale_tag_is_refused_with_the_present_one",
        f"{APPS}a_write_may_be_bound_to_what_was_read",
        f"{CLAIMS}a_rule_is_bound_to_the_file_that_was_read",
        f"{CLAUSES}a_rule_may_be_bound_to_the_rules_that_were_read",
    ),
    "D12": (
        f"{APPS}a_write_may_be_bound_to_what_was_read",
        f"{CLAUSES}a_rule_may_be_bound_to_the_rules_that_were_read",
        f"{CLAUSES}rules_that_were_never_written_match_nothing",
        f"{WRITING}a_matching_tag_passes",
        f"{WRITING}what_is_no_tag_is_refused",
        f"{WRITING}a_tag_never_matches_a_missing_file",
        f"{APPS}a_file_that_is_not_there_matches_nothing",
    ),
    "D13": (
        f"{WRITING}create_only_refuses_a_file_that_is_there",
        f"{APPS}create_only_refuses_a_name_that_is_taken",
    ),
    "D15": (
        f"{WRITING}with_if_match_the_editor_wins",
        f"{WRITING}without_if_match_both_changes_are_there",
    ),
    "D16": (
        f"{PROPERTIES}no_update_is_lost_among_writers_with_if_match_and_an_editor",
        f"{PROPERTIES}edits_by_sed_between_writes_stay_and_the_file_always_parses",
    ),
    "D17": (
        f"{READING}the_last_good_version_runs_on_until_the_file_is_valid_again",
        f"{READING}a_mistake_is_told_with_its_line_and_the_app_is_listed",
        f"{WRITING}a_broken_file_refuses_every_change_but_another_app_does_not",
        f"{REMOVAL}a_broken_file_can_be_removed",
        f"{CLAUSES}a_file_that_an_editor_has_just_written_is_an_app",
        f"{LIVE_FILES}an_invalid_file_is_told_and_listed_while_its_last_good_version_runs",
        f"{APPS}an_invalid_file_is_named_refuses_writes_and_can_be_removed",
        f"{CLAUSES}a_broken_file_is_told_as_an_error_and_then_as_a_change_and_keeps_nobody_else",
    ),
    "D18": (
        f"{TEXT}odd_text_is_stored_byte_for_byte",
        f"{TEXT}broken_text_is_refused_with_its_line",
        f"{TEXT}an_invalid_file_is_repaired_with_its_tag_and_not_without",
        f"{APPS}the_text_of_a_file_is_read_and_stored_byte_for_byte",
        f"{APPS}a_broken_text_is_refused_with_its_line_and_a_good_one_repairs_the_file",
    ),
    "D19": (
        f"{READING}a_scalar_means_what_yaml_1_2_says",
        f"{READING}a_mistake_is_told_with_its_line_and_the_app_is_listed",
        f"{READING}an_alias_bomb_is_one_error_and_no_work",
    ),
    "D20": (f"{PROPERTIES}reading_what_was_written_gives_the_same_value",),
    "D21": (
        f"{REMOVAL}the_file_is_moved_with_a_stamp_and_the_name_is_free",
        f"{REMOVAL}what_was_removed_before_is_never_overwritten",
        f"{D}history/test_recorder.py::test_a_removed_app_keeps_its_history_and_gets_it_back",
        f"{APPS}a_removed_app_lies_among_the_removed_ones_and_may_return",
        f"{SERVICES}a_running_app_is_removed_when_its_service_may_be_stopped",
        f"{SERVICES}a_service_is_started_restarted_and_stopped",
        f"{CLAUSES}a_removed_app_keeps_its_history_and_has_it_back_with_its_name",
    ),
    "D22": (
        f"{WRITING}bodies_may_be_nested_32_deep_and_no_deeper",
        f"{WRITING}a_body_that_is_no_object_is_refused",
        f"{GUARDED}a_body_over_256_kib_is_refused_unread",
        f"{STRICT}what_is_wrong_is_named_with_its_place",
        f"{CLAUSES}a_body_that_is_no_plain_object_changes_no_file",
        f"{CLAUSES}a_body_of_32_levels_is_stored",
    ),
    "D23": (
        f"{STATES}t1_the_first_answer_makes_an_unknown_app_up_or_degraded",
        f"{STATES}t1_t2_the_last_known_state_is_told_only_when_it_has_changed",
        f"{STATES}t2_the_first_failure_is_down_for_an_alarm_app_and_stopped_for_a_quiet_one",
        f"{STATES}t3_one_fine_answer_ends_a_start_and_one_5xx_does_not",
        f"{STATES}t4_a_start_that_takes_longer_than_the_grace_is_down",
        f"{STATES}t5_one_lost_probe_changes_nothing_and_is_asked_again_after_2_and_4_seconds",
        f"{STATES}t6_as_many_failures_as_the_policy_says_are_down",
        f"{STATES}t6_refused_and_no_listener_both_twice_are_enough",
        f"{STATES}t7_two_bad_answers_are_degraded",
        f"{STATES}t7_the_median_of_three_latencies_over_slow_is_degraded",
        f"{STATES}t8_two_clean_probes_heal",
        f"{STATES}t9_a_listener_that_appears_is_starting_and_asked_at_once",
        f"{STATES}t9_a_service_start_is_starting",
        f"{STATES}t10_an_app_out_of_sight_of_the_scan_comes_back_by_its_successes",
        f"{STATES}t11_an_unasked_exit",
        f"{STATES}t11_a_service_that_backs_off_is_restarting_with_a_new_grace",
        f"{STATES}t12_a_stop_is_stopping_and_then_stopped_by_the_user",
        f"{STATES}t12_after_a_failed_stop_the_next_probe_tells_the_state",
        f"{STATES}t13_a_stranger_on_the_port_is_the_wrong_process_whatever_it_answers",
        f"{STATES}t14_a_paused_app_is_unknown_and_nothing_but_its_file_changes_that",
        f"{STATES}t15_a_sleep_keeps_the_state_and_drops_the_failures_around_it",
        f"{STATES}t15_without_a_result_the_app_becomes_unknown_and_the_return_is_told",
    ),
    "D24": (
        f"{STATES}t5_one_lost_probe_changes_nothing_and_is_asked_again_after_2_and_4_seconds",
        f"{FLAPPING}one_lost_probe_in_an_hour_is_no_event",
        f"{SCHEDULE}a_killed_app_has_its_state_within_five_seconds",
        f"{REAL}a_killed_app_has_its_state_within_five_seconds",
    ),
    "D25": (
        f"{FLAPPING}an_app_that_flaps_for_ten_minutes_makes_at_most_20_events",
        f"{FLAPPING}a_listener_that_comes_and_goes_every_second_makes_at_most_20_events",
        f"{FLAPPING}while_flapping_one_event_a_minute_comes_with_the_newest_state",
    ),
    "D26": (
        f"{FLAPPING}an_hour_of_sleep_is_no_event",
        f"{SLEEP}an_hour_of_sleep_is_no_event_and_no_downtime",
        f"{RUNNER}the_machines_sleep_is_noticed_before_any_result",
        f"{STATES}t15_a_sleep_keeps_the_state_and_drops_the_failures_around_it",
    ),
    "D27": (
        f"{PROBE}localhost_finds_a_server_on_either_address_and_names_it",
        f"{REAL}a_server_on_one_address_alone_is_up_and_the_address_is_named",
    ),
    "D28": (
        f"{PROBE}a_status_means_what_the_contract_says",
        f"{STATES}t7_two_bad_answers_are_degraded",
        f"{STATES}502_three_times_is_down_gateway",
        f"{STATES}t7_the_median_of_three_latencies_over_slow_is_degraded",
        f"{STATES}404_is_up_and_says_so",
        f"{REAL}a_status_is_the_state_of_its_app",
        f"{REAL}an_app_that_answers_late_is_slow",
    ),
    "D29": (
        f"{STATES}t13_a_stranger_on_the_port_is_the_wrong_process_whatever_it_answers",
        f"{STATES}t13_when_the_stranger_leaves_the_app_is_what_it_would_be_without_it",
        f"{MATCHING}another_project_on_its_port_is_a_stranger_and_stays_in_observed",
        f"{REAL}another_project_on_the_port_is_the_wrong_process_and_is_observed",
    ),
    "D30": (
        f"{PROBE}an_unknown_listener_on_a_port_of_the_list_is_only_connected_to",
        f"{PROBE}a_tcp_probe_sends_no_byte",
        f"{PROBE}the_request_is_the_one_of_the_contract_and_nothing_more",
        f"{PROBE}a_redirect_is_fine_and_is_not_followed",
        f"{REAL}nothing_is_ever_sent_to_a_port_of_a_database",
    ),
    "D31": (
        f"{RUNNER}500_hanging_targets_do_not_delay_a_good_one_nor_block_the_loop",
        f"{RUNNER}silent_targets_never_fill_the_gate",
    ),
    "D32": (f"{RUNNER}500_apps_have_a_state_within_five_seconds_of_the_start",),
    "D33": (
        f"{OBSERVED}a_real_server_comes_restarts_under_the_same_id_and_goes_after_30_s",
        f"{SCAN}a_server_on_both_loopback_addresses_is_one",
        f"{SCAN}workers_are_one_listener_of_the_oldest_process",
        f"{SCAN}a_restarted_server_keeps_its_id_and_has_another_process",
        f"{LIVE_LISTENERS}a_dev_server_is_observed_within_2_5_s_and_its_end_is_told_within_5",
        f"{LIVE_LISTENERS}a_restarted_dev_server_keeps_its_id",
    ),
    "D34": (
        f"{FIGURES}15000_connections_in_time_wait_cost_a_scan_nothing",
        f"{OWNERS}two_hundred_scans_beside_a_hidden_listener_walk_once_and_again_after_30_s",
    ),
    "D35": (
        f"{WRITING}a_rule_is_added_once_and_the_comments_stay",
        f"{CLAIMS}a_claim_writes_the_file_once",
        f"{CLAIMS}a_claim_that_cannot_be_writes_nothing",
        f"{CLAIMS}an_ignored_listener_is_listed_apart_and_its_rule_stands_once",
        f"{CLAIMS}an_ignore_that_cannot_be_writes_nothing",
    ),
    "D36": (
        f"{WINDOWS}a_slug_without_history_has_empty_buckets",
        f"{WINDOWS}the_day_is_the_default",
        f"{WINDOWS}another_window_is_refused",
        f"{APPS}history_has_its_buckets_also_when_it_is_empty",
        f"{APPS}another_window_is_refused_after_an_app_that_is_not_there",
    ),
    "D37": (
        f"{WINDOWS}percentiles_of_90_days_are_within_11_percent",
        f"{WINDOWS}uptime_counts_degraded_as_up_and_leaves_out_what_was_not_meant_to_run",
    ),
    "D38": (
        f"{FAILURES}a_kill_loses_nothing_that_was_flushed",
        f"{FAILURES}a_database_locked_for_ten_seconds_loses_nothing",
        f"{FAILURES}words_come_in_while_a_flush_waits_for_the_lock",
        f"{REAL}while_the_database_is_locked_the_dashboard_answers_and_nothing_is_lost",
    ),
    "D40": (
        f"{ACTIONS}start_twice_stop_twice_and_restart",
        f"{ACTIONS}another_word_or_no_service_block_is_refused",
        f"{ACTIONS}a_port_held_by_a_stranger_is_named_with_its_holder",
        f"{ACTIONS}a_command_that_dies_answers_with_its_last_lines",
        f"{SERVICES}a_service_is_started_restarted_and_stopped",
        f"{SERVICES}a_port_that_is_held_is_told_with_its_holder",
        f"{SERVICES}what_has_no_service_or_no_name_has_no_actions",
        f"{SERVICES}a_command_that_dies_is_told_with_its_last_lines",
    ),
    "D41": (
        f"{ADOPTION}no_kill_of_the_daemon_ends_a_service_or_loses_an_exit_code",
        f"{LIVE_SERVICES}services_outlive_a_killed_server_and_are_adopted",
    ),
    "D42": (
        f"{ACTIONS}stop_ends_a_grandchild_that_left_the_group",
        f"{ACTIONS}stop_ends_a_child_that_hid_its_environment",
        f"{ACTIONS}a_restart_waits_until_the_port_is_free",
    ),
    "D43": (
        f"{POLICY}a_command_that_exits_at_once_six_times_is_a_crash_loop",
        f"{POLICY}a_changed_file_tries_a_crash_loop_again",
    ),
    "D44": (
        f"{ADOPTION}a_command_that_puts_itself_into_the_background_is_adopted",
        f"{REAL}a_command_that_puts_itself_into_the_background_is_up_and_can_be_stopped",
    ),
    "D45": (
        f"{ENVIRONMENT}a_service_sees_its_own_variables_and_none_of_the_servers",
        f"{ENVIRONMENT}the_login_shell_is_asked_with_nothing_of_the_servers",
        f"{REAL}a_service_has_its_own_variables_and_none_of_the_servers",
    ),
    "D46": (
        f"{LOGS}another_number_of_lines_is_refused",
        f"{LOGS}bytes_that_are_no_text_and_colours",
        f"{LOGS}following_over_rotations_has_no_gap_and_no_repeat",
        f"{REAL}a_follower_of_a_log_sees_each_line_once_over_its_rotations",
        f"{LOGS}a_child_that_never_stops_writing_loses_no_line_over_twenty_rotations",
        f"{SERVICES}logs_are_lines_or_text_and_go_on_where_they_ended",
        f"{SERVICES}lines_are_1_to_5000",
    ),
    "D49": (
        f"{THUMBS}every_kind_has_an_image_before_anything_was_fetched",
        f"{ICONS}the_first_question_has_no_icon_and_the_second_one_has",
        f"{ICONS}an_address_that_is_no_web_link_of_the_group_is_not_found",
        f"{ICONS}a_redirect_to_the_metadata_address_brings_no_icon",
        f"{FETCH}a_redirect_to_such_an_address_is_refused_like_the_address_itself",
        f"{PICTURES}an_app_that_comes_up_gets_its_picture",
        f"{PICTURES}a_refresh_counts_and_is_refused_once_screenshots_are_off",
        f"{PICTURES}an_icon_is_204_then_told_then_there",
        f"{BOOKMARKS}an_icon_is_asked_for_by_a_link_of_the_group",
    ),
    "D1": (f"{GUARDED}no_route_answers_a_host_that_is_not_this_machine",),
    "D2": (
        f"{GUARDED}a_host_is_this_machine_or_refused",
        f"{GUARDED}a_request_without_exactly_one_host_is_refused",
        f"{GUARDED}the_fronted_host_counts_from_the_moment_the_file_names_it",
    ),
    "D3": (
        f"{GUARDED}an_origin_is_held_against_the_same_names",
        f"{GUARDED}a_foreign_page_writes_nowhere",
        f"{GUARDED}a_read_with_a_foreign_origin_gets_no_word_of_permission",
    ),
    "D4": (
        f"{GUARDED}a_foreign_page_writes_nowhere",
        f"{GUARDED}a_page_of_this_machine_may_write",
    ),
    "D5": (
        f"{GUARDED}a_write_names_its_type_even_when_it_is_empty",
        f"{GUARDED}delete_needs_no_type_and_its_body_is_ignored",
    ),
    "D6": (f"{GUARDED}a_preflight_is_a_wrong_method_everywhere",),
    "D7": (
        f"{ROUTES}a_client_cannot_move_the_mount",
        f"{CLAUSES}a_client_cannot_move_where_a_claim_is_to_be_found",
        f"{GUIDE}the_host_that_was_asked_is_in_the_guide_and_a_forged_root_path_is_not",
    ),
    "D14": (
        f"{APPS}an_app_is_never_not_modified_because_its_state_is_not_in_its_file",
        f"{BOOKMARKS}a_group_and_the_list_are_not_modified_until_they_are",
        f"{INSTANCE}the_state_is_not_modified_until_something_changes",
        f"{INSTANCE}every_app_has_a_picture_that_is_asked_for_anew",
        f"{INSTANCE}the_settings_are_shown_and_never_written",
        f"{PICTURES}an_icon_is_204_then_told_then_there",
    ),
    "D47": (
        f"{REBOOT}a_stream_and_the_state_tell_what_was_lost",
        f"{REBOOT}"
        "each_way_back_leads_back_and_the_next_reboot_takes_only_what_does_not_start_by_itself",
        f"{REBOOT}what_cannot_be_done_is_refused_with_the_reason",
        f"{NOTICE}what_ran_before_the_reboot_and_is_not_back_is_lost",
        f"{NOTICE}one_item_is_dismissed_and_stays_so",
        f"{NOTICE}the_whole_notice_is_dismissed_as_often_as_one_likes",
        f"{NOTICE}an_item_whose_directory_is_gone_is_blocked_until_it_is_there_again",
        f"{RESTART}a_command_that_dies_is_told_with_its_reason_and_its_last_lines",
    ),
    "D48": (
        f"{STREAM}a_client_is_greeted_without_an_id_and_then_told_in_order",
        f"{STREAM}a_client_resumes_where_it_was_and_an_old_one_fetches_everything",
        f"{LIVE_FILES}a_burst_of_writes_is_one_event_or_two",
        f"{EVENTS}ids_rise_by_one_from_the_start_time_in_milliseconds",
        f"{EVENTS}a_client_resumes_after_its_last_event",
        f"{EVENTS}a_silent_stream_is_pinged",
        f"{LIMITS}a_stream_is_pinged_every_25_seconds_events_or_not",
        f"{EVENTS}a_client_that_does_not_read_is_cut_and_the_others_go_on",
        "tests/config/test_server.py::test_an_application_waits_for_a_client_that_does_not_read",
        "tests/promises/test_streams_dashboard.py::"
        "test_streams_cut_at_random_bytes_miss_and_double_nothing",
        f"{LIMITS}one_stream_too_many_is_told_to_come_back",
    ),
    "D50": (
        f"{TOOLS}a_read_tells_what_its_route_answers",
        f"{TOOLS}writes_of_apps_answer_alike_from_the_first_to_the_last",
        f"{TOOLS}writes_of_bookmarks_answer_alike_from_the_first_to_the_last",
        f"{TOOLS}a_service_is_started_restarted_and_stopped_as_over_http",
        f"{FOUND}a_listener_is_found_by_its_port_its_address_and_its_directory",
        f"{FOUND}claims_answer_alike",
        f"{FOUND}ignoring_answers_alike_and_what_is_ignored_still_holds_its_port",
        f"{FOUND}scans_answer_alike",
        f"{D}agents/test_lost.py::test_what_was_lost_is_told_brought_back_and_dismissed_alike",
        f"{TOOLS}a_refusal_has_the_sentence_the_word_and_the_status_of_the_route",
        f"{TOOLS}a_wait_ends_with_the_state_and_is_honest_when_it_does_not_come",
        f"{GUIDE}the_tool_tells_the_guide_as_it_is_at_that_mount",
        f"{TOOLS}other_methods_are_refused_on_both_mounts",
        f"{TOOLS}both_mounts_list_the_same_tools",
        f"{ESCAPE}hostile_titles_paths_and_branches_stay_data",
        f"{GUIDE}a_hostile_project_is_one_row_of_the_guide",
        f"{GUIDE}each_text_has_its_type_is_never_kept_and_names_the_address_it_was_read_at",
        "tests/promises/test_r6_second.py::"
        "test_of_two_starts_at_once_one_serves_and_the_other_names_it",
    ),
}

LATER: dict[str, tuple[str, ...]] = {
    "D39": ("cases 36 to 38 on PostgreSQL: a server of it where the suite runs",),
}
