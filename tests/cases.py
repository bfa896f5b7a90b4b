"""The edge cases of the contracts and the tests that show them; checked by test_cases.py.

E1..E40 are those of workspace.md part E, N1..N30 those of engine.md 14. A case may stand in both
tables: what this version has is shown, what waits for an engine of a later one says so.
"""

from __future__ import annotations

ACCESS = "tests/workspace/access/"
CHATS = "tests/workspace/chats/"
TRIGGERS = "tests/workspace/triggers/"
ENGINES = "tests/workspace/engines/"
API = "tests/workspace/api/"
KERNEL = "tests/kernel/"
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
        f"{CLIENTS}test_raw.py::test_host_and_origin_make_no_difference_on_mcp_and_discovery",
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
        "tests/workspace/test_operations.py::"
        "test_a_scoped_client_sees_its_projects_and_is_refused_the_others_alike",
        "tests/workspace/test_operations.py::"
        "test_a_scoped_client_lists_the_chats_of_its_projects_alone",
        "tests/workspace/test_operations.py::test_a_slug_outside_the_scope_is_not_created",
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
        "tests/workspace/test_operations.py::"
        "test_an_id_that_names_no_chat_here_touches_no_file_and_fires_nothing",
        f"{API}test_chats.py::test_a_chat_that_is_not_there_is_not_found_on_every_route",
        f"{API}test_chats.py::test_another_projects_chat_is_not_found",
    ),
    "E22": (
        f"{CHATS}test_ends.py::"
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
        f"{CHATS}test_queue.py::test_a_failed_turn_holds_what_waits_and_a_new_message_lets_it_go",
        f"{CHATS}test_queue.py::test_resume_lets_held_messages_go_in_their_order",
        f"{CHATS}test_queue.py::"
        "test_stop_on_a_chat_that_still_starts_leaves_its_message_in_the_chat",
        f"{CHATS}test_ends.py::test_a_stop_at_the_claim_leaves_no_process_and_no_step_done",
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
        f"{CHATS}test_ends.py::test_an_empty_list_of_tools_reaches_the_engine_as_an_empty_list",
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
        f"{CLIENTS}test_raw.py::test_host_and_origin_make_no_difference_on_mcp_and_discovery",
    ),
    "E40": (
        f"{CHATS}test_stream.py::"
        "test_cut_inside_a_line_and_resumed_with_the_last_id_nothing_is_missed_or_repeated",
        f"{CHATS}test_stream.py::test_a_place_that_is_none_gives_resync_and_everything",
    ),
    "N1": (f"{CHATS}test_worker.py::test_delivered_to_three_workers_at_once_it_runs_once",),
    "N2": ("tests/workspace/test_turn.py::test_a_killed_worker_takes_its_turn_along",),
    "N3": (
        f"{CHATS}test_worker.py::test_worker_and_turn_process_killed_together_keep_the_message",
        f"{CHATS}test_ends.py::"
        "test_a_second_delivery_of_a_turn_whose_worker_is_lost_kills_what_it_left_and_settles_it",
        f"{CHATS}test_worker.py::test_a_worker_that_dies_leaves_a_chat_that_the_sweep_settles",
        f"{CHATS}test_real_service.py::"
        "test_after_a_crash_the_turn_is_interrupted_and_what_waits_runs_once",
    ),
    "N4": (
        f"{CHATS}test_worker.py::test_killed_between_claim_and_start_the_turn_is_written_down_once",
    ),
    "N5": (
        "tests/workspace/test_turn.py::"
        "test_a_turn_that_is_in_the_transcript_already_exits_4_and_appends_nothing",
        f"{CHATS}test_worker.py::test_a_turn_the_transcript_knows_already_is_not_run_again",
    ),
    "N6": (
        f"{CHATS}test_transcript.py::test_a_torn_line_that_is_whole_json_becomes_a_record",
        f"{CHATS}test_transcript.py::"
        "test_a_torn_line_that_is_half_a_record_is_counted_and_passed_over",
        f"{CHATS}test_index.py::test_a_torn_last_line_is_not_served_and_counted_once_it_is_healed",
    ),
    "N7": (
        "tests/workspace/test_turn.py::test_a_second_writer_on_a_chat_exits_3_and_changes_no_byte",
    ),
    "N8": (
        "tests/workspace/test_turn.py::test_a_full_disk_exits_6_and_heals_at_the_next_turn",
        f"{CHATS}test_ends.py::"
        "test_a_turn_whose_disk_is_full_fails_in_the_queue_and_the_next_one_heals_the_chat",
    ),
    "N9": (
        "tests/workspace/test_turn.py::"
        "test_a_turn_past_its_time_while_it_waits_for_an_answer_is_a_timeout",
        f"{CHATS}test_ends.py::test_an_answer_after_the_turn_ran_out_of_time_is_not_pending",
    ),
    "N10": (
        "tests/workspace/test_turn.py::"
        "test_a_question_nobody_answers_is_denied_and_the_turn_goes_on",
    ),
    "N11": (
        f"{ENGINES}test_policy.py::test_what_is_not_listed_does_not_exist_in_any_mode",
        f"{ENGINES}test_runbook.py::test_no_tool_at_all_is_offered_by_an_empty_list",
        f"{CHATS}test_ends.py::test_an_empty_list_of_tools_reaches_the_engine_as_an_empty_list",
    ),
    "N12": ("tests/workspace/test_turn.py::test_a_gate_that_raises_denies",),
    "N13": (
        f"{ENGINES}test_policy.py::test_paths_outside_are_denied_except_in_bypass",
        f"{ENGINES}test_tools.py::test_a_link_swapped_between_check_and_open_leads_nowhere",
        f"{ENGINES}test_tools.py::test_the_folder_of_a_swapped_link_is_judged_when_it_is_open",
    ),
    "N14": (
        f"{ENGINES}test_policy.py::test_transcripts_are_protected_in_every_mode",
        f"{ENGINES}test_sandbox.py::test_transcripts_cannot_be_changed_from_inside",
    ),
    "N16": (
        "tests/workspace/test_turn.py::test_bypass_as_root_without_a_sandbox_is_marked",
        f"{ENGINES}test_sandbox.py::test_root_in_bypass_is_not_marked_when_it_is_confined",
    ),
    "N17": (f"{ENGINES}test_select.py::test_a_named_engine_that_cannot_run_is_never_replaced",),
    "N18": (f"{ENGINES}test_runbook.py::test_each_step_counts_and_text_does_not",),
    "N21": (
        "tests/workspace/test_turn.py::"
        "test_secrets_stay_out_of_the_command_line_the_log_and_error_texts",
        f"{ACCESS}test_turns.py::test_the_endpoint_serves_the_turn_and_is_not_found_for_others",
        f"{ACCESS}test_turns.py::test_the_token_is_void_when_the_row_is_not_running",
        f"{CHATS}test_worker.py::test_a_turn_runs_and_its_row_is_done",
    ),
    "N22": ("tests/workspace/test_turn.py::test_code_in_the_project_never_runs_by_itself",),
    "N23": (
        f"{ENGINES}test_runbook.py::test_a_syntax_error_runs_nothing_and_names_the_line",
        f"{ENGINES}test_grammar.py::test_a_fault_names_its_line",
    ),
    "N24": (f"{ENGINES}test_runbook.py::test_output_is_data_and_never_read_again",),
    "N25": (
        f"{ENGINES}test_runbook.py::test_the_summary_on_archive_reads_the_chat_that_was_archived",
        f"{ENGINES}test_runbook.py::test_a_forks_prompt_is_run_as_a_runbook_behind_its_line",
        f"{ENGINES}test_grammar.py::test_only_the_first_line_makes_a_runbook",
    ),
    "N26": (f"{ENGINES}test_runbook.py::test_a_denied_step_goes_on_only_with_allow_failure",),
    "N27": (
        f"{CHATS}test_forks.py::test_a_fork_holds_the_bytes_up_to_the_last_finished_turn",
        f"{CHATS}test_forks.py::test_a_fork_of_a_fork_goes_on_where_it_was_cut",
        f"{CHATS}test_forks.py::test_an_empty_chat_forks_to_an_empty_chat",
        f"{CHATS}test_stream.py::test_every_id_of_a_fork_of_a_fork_resumes_exactly",
    ),
    "N28": (
        f"{CHATS}test_stream.py::test_live_text_comes_once_also_to_who_joins_late",
        f"{CHATS}test_stream.py::test_text_of_the_turn_before_is_never_shown",
        f"{CHATS}test_live.py::test_a_reader_stalled_across_a_turn_change_starts_again",
        f"{CHATS}test_stream.py::"
        "test_a_reader_stalled_across_a_turn_change_sees_the_new_text_whole",
    ),
    "N29": (
        f"{ENGINES}test_sandbox.py::"
        "test_a_forced_sandbox_that_is_missing_is_unavailable_and_auto_is_off",
        f"{ENGINES}test_sandbox.py::test_a_bwrap_that_fails_says_why",
        f"{ENGINES}test_sandbox.py::test_an_unavailable_sandbox_starts_no_turn",
        f"{ENGINES}test_sandbox.py::test_names_resolve_when_the_resolver_file_is_a_link_into_run",
        f"{ENGINES}test_select.py::test_every_page_says_when_commands_are_not_confined",
        "tests/workspace/test_pages.py::test_a_missing_sandbox_is_said_on_every_page",
        "tests/workspace/test_boot.py::test_a_missing_sandbox_is_one_warning_at_the_start",
    ),
    "N30": (
        f"{CHATS}test_ends.py::test_text_waits_for_an_engine_while_the_projects_runbooks_run",
        "tests/workspace/test_turn.py::test_plain_text_without_an_engine_ends_as_needs_engine",
        "tests/browser/test_chat.py::test_a_denied_command_fails_the_turn_and_it_can_be_run_again",
    ),
}

LATER: dict[str, tuple[str, ...]] = {
    "N11": ("claude and builtin offer no tool, acp refuses to start: engines of a later version",),
    "N12": ("a gate that raises under claude, builtin and acp: engines of a later version",),
    "N15": ("subagents exist under claude and builtin only: engines of a later version",),
    "N16": ("the permission mode of the Claude CLI: an engine of a later version",),
    "N17": ("claude without a key, and a key taken away: an engine of a later version",),
    "N18": ("the exception claude raises at its bound: an engine of a later version",),
    "N19": ("background subagents of claude: an engine of a later version",),
    "N20": ("the conversation file of claude: an engine of a later version",),
    "N30": ("a model key that is set later: engines of a later version",),
}
