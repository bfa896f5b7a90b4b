"""D1..D50: the test cases of dashboard.md 19, and what of them waits for the routes and pages."""

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
THUMBS = f"{D}looks/test_thumbs.py::test_"
ICONS = f"{D}looks/test_icons.py::test_"
FETCH = f"{D}looks/test_fetch.py::test_"

CASES: dict[str, tuple[str, ...]] = {
    "D8": (f"{READING}only_a_slug_names_a_file", f"{READING}every_slug_names_a_file"),
    "D9": (
        f"{WRITING}a_new_file_is_private_and_its_etag_is_the_hash_of_its_bytes",
        f"{WRITING}the_same_put_again_does_not_touch_the_file",
    ),
    "D10": (
        f"{WRITING}a_patch_leaves_every_other_byte_of_an_odd_file_alone",
        f"{PROPERTIES}a_patch_touches_no_line_but_those_of_what_it_changes",
    ),
    "D11": (f"{WRITING}a_stale_tag_is_refused_with_the_present_one",),
    "D12": (
        f"{WRITING}a_matching_tag_passes",
        f"{WRITING}what_is_no_tag_is_refused",
        f"{WRITING}a_tag_never_matches_a_missing_file",
    ),
    "D13": (f"{WRITING}create_only_refuses_a_file_that_is_there",),
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
    ),
    "D18": (
        f"{TEXT}odd_text_is_stored_byte_for_byte",
        f"{TEXT}broken_text_is_refused_with_its_line",
        f"{TEXT}an_invalid_file_is_repaired_with_its_tag_and_not_without",
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
    ),
    "D22": (
        f"{WRITING}bodies_may_be_nested_32_deep_and_no_deeper",
        f"{WRITING}a_body_that_is_no_object_is_refused",
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
    ),
    "D25": (
        f"{FLAPPING}an_app_that_flaps_for_ten_minutes_makes_at_most_20_events",
        f"{FLAPPING}a_listener_that_comes_and_goes_every_second_makes_at_most_20_events",
        f"{FLAPPING}while_flapping_one_event_a_minute_comes_with_the_newest_state",
    ),
    "D26": (
        f"{FLAPPING}an_hour_of_sleep_is_no_event",
        f"{STATES}t15_a_sleep_keeps_the_state_and_drops_the_failures_around_it",
    ),
    "D27": (f"{PROBE}localhost_finds_a_server_on_either_address_and_names_it",),
    "D28": (
        f"{PROBE}a_status_means_what_the_contract_says",
        f"{STATES}t7_two_bad_answers_are_degraded",
        f"{STATES}502_three_times_is_down_gateway",
        f"{STATES}t7_the_median_of_three_latencies_over_slow_is_degraded",
        f"{STATES}404_is_up_and_says_so",
    ),
    "D29": (
        f"{STATES}t13_a_stranger_on_the_port_is_the_wrong_process_whatever_it_answers",
        f"{STATES}t13_when_the_stranger_leaves_the_app_is_what_it_would_be_without_it",
    ),
    "D30": (
        f"{PROBE}an_unknown_listener_on_a_port_of_the_list_is_only_connected_to",
        f"{PROBE}a_tcp_probe_sends_no_byte",
        f"{PROBE}the_request_is_the_one_of_the_contract_and_nothing_more",
        f"{PROBE}a_redirect_is_fine_and_is_not_followed",
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
    ),
    "D34": (
        f"{FIGURES}15000_connections_in_time_wait_cost_a_scan_nothing",
        f"{OWNERS}two_hundred_scans_beside_a_hidden_listener_walk_once_and_again_after_30_s",
    ),
    "D35": (f"{WRITING}a_rule_is_added_once_and_the_comments_stay",),
    "D36": (
        f"{WINDOWS}a_slug_without_history_has_empty_buckets",
        f"{WINDOWS}the_day_is_the_default",
        f"{WINDOWS}another_window_is_refused",
    ),
    "D37": (
        f"{WINDOWS}percentiles_of_90_days_are_within_11_percent",
        f"{WINDOWS}uptime_counts_degraded_as_up_and_leaves_out_what_was_not_meant_to_run",
    ),
    "D38": (
        f"{FAILURES}a_kill_loses_nothing_that_was_flushed",
        f"{FAILURES}a_database_locked_for_ten_seconds_loses_nothing",
    ),
    "D40": (
        f"{ACTIONS}start_twice_stop_twice_and_restart",
        f"{ACTIONS}another_word_or_no_service_block_is_refused",
        f"{ACTIONS}a_port_held_by_a_stranger_is_named_with_its_holder",
        f"{ACTIONS}a_command_that_dies_answers_with_its_last_lines",
    ),
    "D41": (f"{ADOPTION}no_kill_of_the_daemon_ends_a_service_or_loses_an_exit_code",),
    "D42": (
        f"{ACTIONS}stop_ends_a_grandchild_that_left_the_group",
        f"{ACTIONS}stop_ends_a_child_that_hid_its_environment",
        f"{ACTIONS}a_restart_waits_until_the_port_is_free",
    ),
    "D43": (
        f"{POLICY}a_command_that_exits_at_once_six_times_is_a_crash_loop",
        f"{POLICY}a_changed_file_tries_a_crash_loop_again",
    ),
    "D44": (f"{ADOPTION}a_command_that_puts_itself_into_the_background_is_adopted",),
    "D45": (
        f"{ENVIRONMENT}a_service_sees_its_own_variables_and_none_of_the_servers",
        f"{ENVIRONMENT}the_login_shell_is_asked_with_nothing_of_the_servers",
    ),
    "D46": (
        f"{LOGS}another_number_of_lines_is_refused",
        f"{LOGS}bytes_that_are_no_text_and_colours",
        f"{LOGS}following_over_rotations_has_no_gap_and_no_repeat",
        f"{LOGS}a_child_that_never_stops_writing_loses_no_line_over_twenty_rotations",
    ),
    "D49": (
        f"{THUMBS}every_kind_has_an_image_before_anything_was_fetched",
        f"{ICONS}the_first_question_has_no_icon_and_the_second_one_has",
        f"{ICONS}an_address_that_is_no_web_link_of_the_group_is_not_found",
        f"{ICONS}a_redirect_to_the_metadata_address_brings_no_icon",
        f"{FETCH}a_redirect_to_such_an_address_is_refused_like_the_address_itself",
    ),
}

ROUTES = "over HTTP: the routes of the dashboard part"
LATER: dict[str, tuple[str, ...]] = {
    "D1": ("every route refuses a foreign host: the routes of the dashboard part",),
    "D2": ("which hosts pass: the guard of the dashboard part",),
    "D3": ("which origins write: the guard of the dashboard part",),
    "D4": ("Sec-Fetch-Site: the guard of the dashboard part",),
    "D5": ("what a write is: the guard of the dashboard part",),
    "D6": ("preflights fail: the routes of the dashboard part",),
    "D7": ("a root path a client sent: the routes of the dashboard part",),
    "D14": ("If-None-Match: the routes of the dashboard part",),
    **dict.fromkeys(
        ("D8", "D9", "D11", "D13", "D18", "D21", "D22", "D29", "D35", "D36", "D40", "D46", "D49"),
        (ROUTES,),
    ),
    "D39": ("cases 36 to 38 on PostgreSQL: a server of it in CI",),
    "D47": ("what was lost at a reboot: the notice and its routes",),
    "D48": ("the event stream of the dashboard part",),
    "D50": ("MCP, guide and a second start: the agents' side of the dashboard part",),
}
