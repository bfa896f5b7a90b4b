"""E1..E40: edge cases of projects, chats, triggers, the gate and the streams. A number is only an
id; the names of the tests say what each case is. The rules: docs/design/workspace.md."""

from __future__ import annotations

ACCESS = "tests/workspace/access/"
CHATS = "tests/workspace/chats/"
TRIGGERS = "tests/workspace/triggers/"
API = "tests/workspace/api/"
KERNEL = "tests/config/"
CLIENTS = "tests/clients/"
PROMISES = "tests/promises/"

CASES: dict[str, tuple[str, ...]] = {
    "E1": (
        f"{KERNEL}test_up.py::test_machine_paths_that_nobody_serves_are_a_bare_404",
        f"{CLIENTS}test_odd_config.py::test_without_a_usable_client_there_is_no_such_surface",
    ),
    "E2": (
        f"{PROMISES}test_g3_gate.py::test_a_caller_without_a_credential_is_refused_before_its_body",
        f"{CLIENTS}test_raw.py::test_without_a_credential_everything_is_401_before_anything_else",
        f"{CLIENTS}test_raw.py::test_with_one_the_method_then_the_headers_then_the_body_decide",
        f"{PROMISES}test_g3_gate.py::test_a_body_over_the_limit_is_refused_before_it_has_come",
        f"{KERNEL}test_mcp.py::test_accept_must_name_both_types",
        f"{KERNEL}test_mcp.py::test_a_declared_size_over_the_limit_is_refused_unread",
    ),
    "E3": (
        f"{CLIENTS}test_raw.py::test_without_a_credential_everything_is_401_before_anything_else",
        f"{CLIENTS}test_raw.py::test_with_one_the_method_then_the_headers_then_the_body_decide",
    ),
    "E4": (
        f"{ACCESS}test_gate.py::test_a_credential_is_one_bearer_token",
        f"{ACCESS}test_gate.py::test_a_token_in_the_query_is_never_looked_at",
        f"{PROMISES}test_g2_bearer.py::test_every_wrong_credential_is_401",
    ),
    "E5": (
        f"{ACCESS}test_gate.py::test_secure_means_tls_loopback_or_a_trusted_proxy",
        f"{ACCESS}test_gate.py::test_two_forwarded_headers_are_joined_and_the_last_decides",
    ),
    "E6": (
        f"{ACCESS}test_gate.py::test_secure_means_tls_loopback_or_a_trusted_proxy",
        f"{ACCESS}test_gate.py::test_the_default_list_warns_once_per_peer_for_32_peers",
    ),
    "E7": (f"{ACCESS}test_gate.py::test_the_default_list_warns_once_per_peer_for_32_peers",),
    "E8": (f"{ACCESS}test_gate.py::test_secure_means_tls_loopback_or_a_trusted_proxy",),
    "E9": (f"{ACCESS}test_gate.py::test_a_prefixed_token_belongs_to_its_instance",),
    "E10": (
        f"{ACCESS}test_clients.py::test_a_bad_client_is_left_out_and_the_others_work",
        f"{CLIENTS}test_odd_config.py::"
        "test_clients_with_unusable_tokens_stay_out_and_the_others_work",
        f"{CLIENTS}test_odd_config.py::test_without_a_usable_client_there_is_no_such_surface",
    ),
    "E11": (
        f"{CLIENTS}test_odd_config.py::"
        "test_clients_with_unusable_tokens_stay_out_and_the_others_work",
        f"{CLIENTS}test_odd_config.py::"
        "test_a_literal_token_of_the_file_is_in_no_log_and_on_no_page",
    ),
    "E12": (
        f"{CLIENTS}test_raw.py::test_a_foreign_origin_is_refused_on_mcp_and_a_foreign_host_makes_no_difference",
        f"{ACCESS}test_discovery.py::test_a_path_mounted_origin_has_every_form",
        f"{ACCESS}test_discovery.py::test_other_paths_are_404",
    ),
    "E13": (
        f"{ACCESS}test_gate.py::test_the_challenge_names_the_document_only_while_it_is_served",
    ),
    "E14": (
        f"{CLIENTS}test_raw.py::test_bad_tokens_are_counted_in_one_row_and_calls_in_their_own",
        f"{ACCESS}test_audit.py::test_refusals_of_a_peer_fold_by_minute_and_outcome",
        f"{CLIENTS}test_raw.py::test_without_a_credential_everything_is_401_before_anything_else",
    ),
    "E15": (
        f"{ACCESS}test_policy.py::test_malformed_patterns_grant_nothing",
        f"{CLIENTS}test_odd_config.py::test_malformed_patterns_show_nothing",
        f"{CLIENTS}test_odd_config.py::"
        "test_everything_allowed_is_fourteen_tools_and_never_a_promotion",
    ),
    "E16": (
        f"{CLIENTS}test_odd_config.py::"
        "test_a_batch_without_forks_is_hidden_and_unknown_when_called",
    ),
    "E17": (
        "tests/workspace/test_mcp.py::"
        "test_a_scoped_client_sees_its_projects_and_is_refused_the_others_alike",
        "tests/workspace/test_mcp.py::test_a_scoped_client_lists_the_chats_of_its_projects_alone",
        "tests/workspace/test_mcp.py::test_a_slug_outside_the_scope_is_not_created",
        f"{CLIENTS}test_python_sdk.py::test_a_scoped_client_stays_in_its_project",
    ),
    "E18": (f"{CLIENTS}test_raw.py::test_projects_are_required_where_there_is_no_current_one",),
    "E19": (
        f"{KERNEL}test_mcp.py::test_mistyped_params_are_invalid_params",
        f"{KERNEL}test_mcp.py::test_a_failing_tool_is_a_tool_error",
        f"{KERNEL}test_arguments.py::test_whole_numbers_may_be_text",
        f"{KERNEL}test_arguments.py::test_what_is_no_whole_number_is_shown",
        f"{KERNEL}test_arguments.py::test_a_misspelt_argument_is_named_with_the_nearest",
    ),
    "E20": (
        f"{KERNEL}test_mcp.py::test_json_that_is_no_request_is_invalid_and_runs_nothing",
        f"{KERNEL}test_mcp.py::test_an_id_comes_back_as_it_came",
    ),
    "E21": (
        "tests/workspace/test_mcp.py::"
        "test_an_id_that_names_no_chat_here_touches_no_file_and_fires_nothing",
        f"{API}test_chats.py::test_a_chat_that_is_not_there_is_not_found_on_every_route",
        f"{API}test_chats.py::test_another_projects_chat_is_not_found",
    ),
    "E22": (
        f"{CHATS}turns/test_ends.py::"
        "test_twenty_messages_at_once_to_an_idle_chat_run_one_after_the_other_on_two_workers",
        f"{CHATS}test_real_service.py::"
        "test_twenty_senders_at_once_are_answered_one_after_the_other",
        f"{PROMISES}test_t9_turns_in_order.py::"
        "test_turns_of_one_chat_run_whole_one_after_the_other_in_the_order_sent",
    ),
    "E23": (
        f"{CHATS}test_real_service.py::"
        "test_after_a_crash_the_turn_is_interrupted_and_what_waits_runs_once",
    ),
    "E24": (
        f"{CHATS}turns/test_queue.py::test_a_failed_turn_holds_what_waits_and_a_new_message_lets_it_go",
        f"{CHATS}turns/test_queue.py::test_resume_lets_held_messages_go_in_their_order",
        f"{CHATS}turns/test_queue.py::"
        "test_stop_on_a_chat_that_still_starts_leaves_its_message_in_the_chat",
        f"{CHATS}turns/test_ends.py::test_a_stop_at_the_claim_leaves_no_process_and_no_step_done",
    ),
    "E25": (
        f"{TRIGGERS}test_files.py::"
        "test_a_write_keeps_comments_unknown_keys_and_crlf_and_the_missing_last_newline",
        f"{PROMISES}test_f5_untouched_bytes.py::"
        "test_setting_a_value_leaves_every_line_of_the_others_as_it_was",
    ),
    "E26": (f"{TRIGGERS}test_files.py::test_an_entry_behind_an_alias_is_refused_naming_the_line",),
    "E27": (
        f"{TRIGGERS}test_files.py::"
        "test_a_bad_entry_is_reported_with_its_line_and_the_others_are_used",
        f"{TRIGGERS}test_files.py::test_an_invalid_entry_is_not_found_and_the_sentence_says_why",
        f"{TRIGGERS}test_files.py::"
        "test_an_invalid_entry_survives_writes_to_other_triggers_untouched",
        f"{API}test_triggers.py::test_an_invalid_entry_is_shown_with_its_line_and_left_alone",
    ),
    "E28": (
        f"{API}test_triggers.py::test_every_name_that_may_be_saved_may_be_run",
        f"{API}test_triggers.py::test_names_that_cannot_be_are_refused",
        f"{TRIGGERS}test_validate.py::test_a_bad_name_is_named",
        f"{TRIGGERS}test_validate.py::test_other_bad_names_are_refused",
    ),
    "E29": (
        f"{TRIGGERS}test_cron.py::test_a_bad_pattern_is_refused_with_its_field_and_reason",
        f"{TRIGGERS}test_cron.py::test_a_good_pattern_is_accepted_in_any_case",
        f"{TRIGGERS}test_interval.py::test_anything_else_is_refused_with_the_forms_that_work",
    ),
    "E30": (
        f"{TRIGGERS}test_ticker.py::test_enabling_fires_nothing_before_the_first_interval_is_over",
        f"{TRIGGERS}test_arming.py::test_disabling_and_enabling_again_arms_from_now",
        f"{API}test_triggers.py::test_enabling_answers_with_the_next_three_times",
    ),
    "E31": (
        f"{PROMISES}test_t1_one_firing.py::"
        "test_schedulers_that_race_for_every_nominal_time_fire_each_once",
        f"{TRIGGERS}test_qcluster.py::"
        "test_two_clusters_on_one_directory_fire_each_nominal_time_once",
    ),
    "E32": (
        f"{TRIGGERS}test_ticker.py::"
        "test_down_for_three_hours_fires_the_latest_once_and_goes_on_on_the_hour",
        f"{TRIGGERS}test_ticker.py::test_a_weekly_time_missed_three_days_ago_is_one_skipped_record",
        f"{TRIGGERS}test_ticker.py::test_catch_up_skip_records_what_was_missed_and_fires_nothing",
    ),
    "E33": (
        f"{TRIGGERS}test_ticker.py::test_skip_keeps_one_running_and_one_growing_record",
        f"{TRIGGERS}test_ticker.py::test_queue_lets_one_schedule_firing_wait_and_skips_the_rest",
        f"{TRIGGERS}test_validate.py::test_each_mistake_has_its_sentence",
    ),
    "E34": (
        f"{PROMISES}test_t5_clocks.py::test_half_past_two_fires_once_on_both_change_days",
        f"{TRIGGERS}test_cron.py::"
        "test_a_fixed_time_in_the_gap_runs_at_its_end_and_one_that_exists_twice_runs_once",
        f"{TRIGGERS}test_cron.py::"
        "test_a_wildcard_hour_runs_on_every_real_quarter_of_both_change_days",
    ),
    "E35": (
        f"{TRIGGERS}test_firing.py::test_a_bad_prompt_file_ends_the_run_failed_without_a_chat",
        f"{API}test_triggers.py::test_a_firing_that_starts_no_chat_is_502_with_its_run",
    ),
    "E36": (
        f"{TRIGGERS}test_firing.py::"
        "test_a_schedule_without_tools_runs_as_the_project_and_an_event_without_tools_has_none",
        f"{CHATS}turns/test_ends.py::test_an_empty_list_of_tools_reaches_the_engine_as_an_empty_list",
        f"{TRIGGERS}test_firing.py::"
        "test_an_engine_that_cannot_hold_the_list_of_tools_is_never_started",
    ),
    "E37": (
        f"{TRIGGERS}test_events.py::"
        "test_a_hook_that_archives_its_own_chat_does_not_fire_itself_again",
        f"{TRIGGERS}test_events.py::"
        "test_a_hook_that_archives_a_chat_it_created_does_not_fire_itself_again",
        f"{TRIGGERS}test_events.py::test_three_chained_triggers_stop",
    ),
    "E38": (
        f"{TRIGGERS}test_events.py::test_archiving_twice_fires_once",
        f"{TRIGGERS}test_events.py::"
        "test_archiving_while_the_chats_own_turn_runs_fires_after_that_turn",
    ),
    "E39": (
        f"{PROMISES}test_g1_origins.py::"
        "test_only_this_machine_s_pages_and_programs_reach_a_handler",
        f"{PROMISES}test_g1_origins.py::"
        "test_a_run_is_started_by_this_machine_and_not_by_a_foreign_page",
        f"{CLIENTS}test_raw.py::test_a_foreign_origin_is_refused_on_mcp_and_a_foreign_host_makes_no_difference",
    ),
    "E40": (
        f"{CHATS}test_stream.py::"
        "test_cut_inside_a_line_and_resumed_with_the_last_id_nothing_is_missed_or_repeated",
        f"{CHATS}test_stream.py::test_a_place_that_is_none_gives_resync_and_everything",
    ),
}
