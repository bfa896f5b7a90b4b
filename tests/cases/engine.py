"""N1..N30: edge cases of turns, transcripts and engines. A number is only an id; the names of the
tests say what each case is. The rules: docs/design/engines.md."""

from __future__ import annotations

CHATS = "tests/workspace/chats/"
ENGINES = "tests/workspace/engines/"
CLAUDE = f"{ENGINES}claude/"
BUILTIN = f"{ENGINES}builtin/"
ACP = f"{ENGINES}acp/"
EVERY = f"{ENGINES}conformance/test_every_engine.py::"

CASES: dict[str, tuple[str, ...]] = {
    "N1": (f"{CHATS}turns/test_worker.py::test_delivered_to_three_workers_at_once_it_runs_once",),
    "N2": (f"{CHATS}turns/test_process.py::test_a_killed_worker_takes_its_turn_along",),
    "N3": (
        f"{CHATS}turns/test_worker.py::test_worker_and_turn_process_killed_together_keep_the_message",
        f"{CHATS}turns/test_ends.py::"
        "test_a_second_delivery_of_a_turn_whose_worker_is_lost_kills_what_it_left_and_settles_it",
        f"{CHATS}turns/test_worker.py::test_a_worker_that_dies_leaves_a_chat_that_the_sweep_settles",
        f"{CHATS}test_real_service.py::"
        "test_after_a_crash_the_turn_is_interrupted_and_what_waits_runs_once",
    ),
    "N4": (
        f"{CHATS}turns/test_worker.py::test_killed_between_claim_and_start_the_turn_is_written_down_once",
    ),
    "N5": (
        f"{CHATS}turns/test_process.py::"
        "test_a_turn_that_is_in_the_transcript_already_exits_4_and_appends_nothing",
        f"{CHATS}turns/test_worker.py::test_a_turn_the_transcript_knows_already_is_not_run_again",
    ),
    "N6": (
        f"{CHATS}test_transcript.py::test_a_torn_line_that_is_whole_json_becomes_a_record",
        f"{CHATS}test_transcript.py::"
        "test_a_torn_line_that_is_half_a_record_is_counted_and_passed_over",
        f"{CHATS}test_index.py::test_a_torn_last_line_is_not_served_and_counted_once_it_is_healed",
    ),
    "N7": (
        f"{CHATS}turns/test_process.py::test_a_second_writer_on_a_chat_exits_3_and_changes_no_byte",
    ),
    "N8": (
        f"{CHATS}turns/test_process.py::test_a_full_disk_exits_6_and_heals_at_the_next_turn",
        f"{CHATS}turns/test_ends.py::"
        "test_a_turn_whose_disk_is_full_fails_in_the_queue_and_the_next_one_heals_the_chat",
    ),
    "N9": (
        f"{CHATS}turns/test_process.py::"
        "test_a_turn_past_its_time_while_it_waits_for_an_answer_is_a_timeout",
        f"{CHATS}turns/test_ends.py::test_an_answer_after_the_turn_ran_out_of_time_is_not_pending",
    ),
    "N10": (
        f"{CHATS}turns/test_process.py::"
        "test_a_question_nobody_answers_is_denied_and_the_turn_goes_on",
    ),
    "N11": (
        f"{ENGINES}test_policy.py::test_what_is_not_listed_does_not_exist_in_any_mode",
        f"{ENGINES}test_runbook.py::test_no_tool_at_all_is_offered_by_an_empty_list",
        f"{CHATS}turns/test_ends.py::test_an_empty_list_of_tools_reaches_the_engine_as_an_empty_list",
        f"{EVERY}test_an_empty_list_offers_no_tool",
        f"{CLAUDE}test_walls.py::test_only_what_list_and_mode_allow_has_an_effect",
        f"{BUILTIN}test_tool_lists.py::test_an_empty_list_offers_nothing_and_a_forced_call_is_denied_and_recorded",
        f"{ACP}test_tool_lists.py::test_a_turn_with_any_list_is_refused_before_the_agent_is_started",
    ),
    "N12": (
        f"{CHATS}turns/test_process.py::test_a_gate_that_raises_denies",
        f"{CLAUDE}test_walls.py::test_a_gate_that_raises_lets_nothing_run",
        f"{BUILTIN}test_tool_lists.py::test_a_gate_that_raises_denies",
        f"{ACP}test_permissions.py::test_a_permission_check_that_fails_denies",
    ),
    "N13": (
        f"{ENGINES}test_policy.py::test_paths_outside_are_denied_except_in_bypass",
        f"{ENGINES}test_tools.py::test_a_link_swapped_between_check_and_open_leads_nowhere",
        f"{ENGINES}test_tools.py::test_the_folder_of_a_swapped_link_is_judged_when_it_is_open",
        f"{CLAUDE}test_walls.py::test_paths_are_confined_and_transcripts_are_protected_in_every_mode",
        f"{ACP}test_permissions.py::test_paths_are_judged_whatever_the_mode_approves",
    ),
    "N14": (
        f"{ENGINES}test_policy.py::test_transcripts_are_protected_in_every_mode",
        f"{ENGINES}test_sandbox.py::test_transcripts_cannot_be_changed_from_inside",
        f"{CLAUDE}test_sandbox.py::test_in_the_sandbox_a_turn_works_and_touches_only_its_own",
        f"{ACP}test_confined.py::test_the_agent_writes_its_project_and_home_and_no_transcript",
    ),
    "N15": (
        f"{CLAUDE}test_subagents.py::test_an_unlisted_tool_and_a_path_outside_are_denied_in_a_subagent_too",
        f"{BUILTIN}test_tool_lists.py::test_a_task_is_a_second_agent_behind_the_same_gate_and_budget",
    ),
    "N16": (
        f"{CHATS}turns/test_process.py::test_bypass_as_root_without_a_sandbox_is_marked",
        f"{ENGINES}test_sandbox.py::test_root_in_bypass_is_not_marked_when_it_is_confined",
        f"{CLAUDE}test_sandbox.py::test_bypass_is_told_of_root_only_without_the_sandbox_and_is_never_the_mode_inside",
    ),
    "N17": (
        f"{ENGINES}test_select.py::test_a_named_engine_that_cannot_run_is_never_replaced",
        f"{CLAUDE}test_ends.py::test_without_a_key_the_login_failed_and_nothing_is_completed",
        f"{CLAUDE}test_service.py::test_a_service_with_a_key_answers_with_claude_and_without_it_says_so",
        f"{BUILTIN}test_servers.py::test_a_model_whose_key_is_gone_needs_an_engine_and_gets_no_other",
    ),
    "N18": (
        f"{ENGINES}test_runbook.py::test_each_step_counts_and_text_does_not",
        f"{CLAUDE}test_ends.py::test_the_bound_of_a_turn_is_no_error_besides",
        f"{BUILTIN}test_turns.py::test_the_turn_stops_at_its_bound_of_replies",
    ),
    "N19": (
        f"{CLAUDE}test_subagents.py::test_a_subagent_in_the_background_ends_within_the_turn_and_is_counted",
        f"{CLAUDE}test_ends.py::test_the_last_of_two_results_counts",
    ),
    "N20": (
        f"{CLAUDE}test_memory.py::test_a_lost_conversation_is_told_as_text",
        f"{BUILTIN}test_memory.py::test_messages_that_cannot_be_read_any_more_are_told_in_words_with_a_notice",
        f"{ACP}test_sessions.py::test_a_session_the_agent_forgot_is_begun_again_and_said",
    ),
    "N21": (
        f"{CHATS}turns/test_process.py::"
        "test_secrets_stay_out_of_the_command_line_the_log_and_error_texts",
        f"{CHATS}turns/test_tokens.py::test_the_endpoint_serves_the_turn_and_is_not_found_for_others",
        f"{CHATS}turns/test_tokens.py::test_the_token_is_void_when_the_row_is_not_running",
        f"{CHATS}turns/test_worker.py::test_a_turn_runs_and_its_row_is_done",
        f"{CLAUDE}test_turns.py::test_operations_of_the_service_are_tools_and_the_bearer_is_in_no_command_line",
        f"{CLAUDE}test_service.py::test_a_service_with_a_key_answers_with_claude_and_without_it_says_so",
    ),
    "N22": (
        f"{CHATS}turns/test_process.py::test_code_in_the_project_never_runs_by_itself",
        f"{CLAUDE}test_turns.py::test_nothing_that_lies_in_the_project_is_run_or_believed",
    ),
    "N23": (
        f"{ENGINES}test_runbook.py::test_a_syntax_error_runs_nothing_and_says_where",
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
        f"{CLAUDE}test_memory.py::test_a_fork_of_an_empty_chat_is_a_new_conversation",
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
        f"{CLAUDE}test_sandbox.py::test_a_forced_sandbox_that_is_missing_starts_nothing",
        f"{ACP}test_confined.py::test_a_forced_sandbox_that_is_missing_starts_no_agent",
    ),
    "N30": (
        f"{CHATS}turns/test_ends.py::test_text_waits_for_an_engine_while_the_projects_runbooks_run",
        f"{CHATS}turns/test_process.py::test_plain_text_without_an_engine_ends_as_needs_engine",
        "tests/browser/test_chat.py::test_a_denied_command_fails_the_turn_and_it_can_be_run_again",
        f"{CLAUDE}test_service.py::test_a_service_with_a_key_answers_with_claude_and_without_it_says_so",
    ),
}

LATER: dict[str, tuple[str, ...]] = {}
