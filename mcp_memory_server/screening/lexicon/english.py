"""English. `_` joins the words of a phrase, `*` ends a stem; everything else is a whole word."""

from typing import Final

from .concepts import Concept as C

WORDS: Final = {
    C.IGNORE: """
        ignore ignoring disregard disregarding forget forgetting override overriding bypass bypassing discard
        neglect circumvent skip unlearn overwrite set_aside put_aside pay_no_attention pay_no_heed take_no_notice
        stop_following stop_obeying no_longer_follow no_longer_obey drop do_away_with abandon reject stop_applying
        let_go_of aside replace_your""",
    C.OBEY: """
        follow following obey obeying comply adhere respect abide honor honour listen pay_attention respecting apply""",
    C.PRIOR: """
        previous previously prior earlier above preceding former original initial existing so_far until_now
        up_to_now beforehand foregoing""",
    C.GIVEN: """
        you_were_given you_were_told you_have_been_given you_have_been_told you_received you_got you_were_taught
        you_had_before told_you_before everything_above everything_before everything_prior the_above
        all_of_the_above everything_said everything_we told_you gave_you taught_you you_were_instructed
        you_have_been_instructed you_were_trained""",
    C.ALL: "all every everything each anything whole entire anyone whoever",
    C.RULES: """
        instruction instructions rule rules guideline guidelines directive directives restriction restrictions
        policy policies constraint constraints safeguard safeguards guardrail guardrails programming prompt prompts
        limitations protocols directions""",
    C.RULES | C.AUTHORITY: """
        content_policy content_policies safety_guidelines safety_rules safety_policy safety_protocols
        safety_training""",
    C.INSTRUCTIONS: "instruction instructions directive directives prompt prompts guidelines directions",
    C.VOID: """
        no_longer_apply no_longer_valid do_not_apply were_a_test was_a_test is_outdated are_outdated are_void
        is_void written_by_mistake are_cancelled have_been_replaced has_been_replaced have_been_revoked are_lifted
        were_a_mistake replace_it replaces_it replace_them have_changed do_not_apply_here does_not_apply disabled
        are_suspended expired obsolete cancelled canceled revoked void invalid as_expired outdated does_not_count
        do_not_count binding_any_longer no_longer_binding not_binding are_over""",
    C.VOID | C.ROLE: "you_are_no_longer you're_no_longer",
    C.NEW: "new real actual true replacement",
    C.PRIORITY: """
        supersede supersedes takes_precedence take_precedence highest_priority top_priority overrides outranks
        outrank prevails over_everything above_everything only_instructions only_rules only_guidance that_count
        that_counts""",
    C.AUTHORITY: """
        system systems developer developers admin administrator root openai anthropic creator creators safety
        security_team""",
    C.AUTHORITY | C.AUTHORISED: """
        as_your_developer as_your_creator as_your_administrator as_your_admin as_your_owner as_your_maker""",
    C.YOU: "you your yours yourself you're you'll thy",
    C.ASSISTANT: "assistant ai model chatbot bot llm gpt agent claude chatgpt copilot gemini",
    C.ADDRESS: """
        note_to_the_bot note_to_the_assistant note_to_the_model note_to_the_ai note_to_ai note_for_ai
        note_to_assistants if_you_are_an_ai if_you_are_a_language if_you_are_an_assistant if_you_are_an_llm
        language_models_reading attention_ai attention_assistant dear_assistant dear_ai hey_assistant llms_reading
        to_any_ai instructions_for_the_assistant instruction_for_the_assistant instructions_to_the_assistant
        to_all_assistants to_all_models to_all_ai to_every_assistant ai_agents_must ai_agents_should
        ai_agents_reading ai_agents_integrating ai_agents_please ai_assistants_must ai_assistants_should
        ai_models_must ai_models_should note_for_agents message_to_all_ai if_you_are_an_agent""",
    C.USER: "user user's human account_holder",
    C.NOT: """
        not never don't dont no cannot can't neither nor mustn't shouldn't won't needn't doesn't avoid refrain stop""",
    C.NOT | C.NOTICE: "not_be_informed not_to_be_informed not_be_told not_to_be_told not_to_know not_be_notified",
    C.WITHOUT: "without",
    C.TELL: """
        tell telling inform informing notify notifying mention mentioning reveal revealing disclose disclosing alert
        alerting say saying warn warning let_know admit acknowledge discuss talk_about speak_of report letting_know
        let_the_user_know explain explaining""",
    C.NOTICE: """
        notice notices find_out finds_out never_sees never_see not_see_it realise realises realize realizes suspect
        unaware in_the_dark noticing knowing realising realizing""",
    C.KNOW: "know learn find_out discover hear aware",
    C.DENY: "deny denying feign",
    C.TRIGGER: """
        when_you_read_this upon_reading_this once_you_read when_this_is_loaded when_this_note_is when_this_memory_is
        whenever_this_note whenever_this_memory when_you_load_this when_you_see_this as_soon_as_you_read
        after_reading_this when_reading_this when_this_fact_is whenever_this_fact""",
    C.COMPLY: """
        all_requests every_request any_request all_commands every_command any_command whatever_is_asked
        whatever_he_asks""",
    C.HISTORY: "history log logs transcript transcripts",
    C.NOTE: """
        this_note this_memory this_instruction these_instructions this_message this_entry this_fact this_line
        this_rule this_command these_rules this_record this_text this_one about_this mention_this say_this
        in_this_memory in_this_note of_this_note this_exists it_exists""",
    C.SELF: "this_note this_memory this_entry this_document this_record in_this_memory",
    C.SECRETLY: """
        secretly silently quietly covertly unnoticed stealthily discreetly behind_the_user's_back in_the_background""",
    C.HIDE: """
        hide hiding hidden conceal conceals secret withhold leave_out keep_it_secret between_us keep_quiet
        keep_silent say_nothing stay_silent""",
    C.FROM_USER: "from_the_user from_users from_the_human from_the_account_holder",
    C.SEND: """
        send sending forward forwarding upload uploading post posting emailing transmit transmitting append submit
        share copy copying transfer deliver bcc report attach include insert pass_on collect pass publish drop relay
        stream email_the email_a email_an email_all email_every email_each email_it email_them email_this email_your
        mail_the mail_a mail_all mail_every mail_each mail_it mail_them mail_this e_mail_the e_mail_all e_mail_every
        e_mail_it""",
    C.LEAK: "leak leaking exfiltrate exfiltrating siphon smuggle harvest",
    C.DISCLOSE: "reveal disclose divulge hand_over give_away expose",
    C.SENSITIVE: """
        password passwords passphrase credential credentials token tokens api_secret client_secret user_secrets
        api_key api_keys api_token private_key private_keys ssh_key id_rsa ssh environment_variable
        environment_variables conversation_history chat_history personal_data private_data customer_list
        customer_database customer_data user_data credit_card bank_details cookies cookie last_user_message
        system_prompt the_conversation this_conversation each_conversation every_conversation the_chat this_chat
        every_chat""",
    C.DATA: """
        conversation conversations chat chats memory memories emails e_mails mails inbox messages contacts
        everything address_book secrets confidential whatever_the_user everything_the_user anything_the_user
        all_the_user""",
    C.PLACE: "web_request issue_body query_string webhook the_url attacker",
    C.PRINT: """
        repeat print output reveal show display dump recite disclose write_out paste copy_out echo quote spell
        type_out copy_of""",
    C.PROMPT: """
        system_prompt system_message initial_prompt original_prompt hidden_prompt hidden_instructions
        your_instructions your_prompt your_configuration its_configuration secret_instructions words_above
        text_above developer_message your_rules your_guidelines your_system initial_instructions
        starting_instructions your_starting your_initial""",
    C.PERSIST: """
        always whenever from_now_on henceforth every_time each_time in_every in_each in_all from_this_point
        at_the_end_of_every at_the_end_of_each every_answer each_answer every_reply each_reply every_response
        each_response future permanently all_conversations end_with start_every when_the_user before_every
        before_answering any_more anymore in_all_answers""",
    C.RECOMMEND: """
        recommend recommends promote suggest advertise endorse steer push pushing cite praise favour favor buy
        choose rank rate treat mention_first""",
    C.TRUSTED: """
        trusted_source trusted_sources most_trusted authoritative_source best_candidate best_choice only_source
        trusted_instructions most_reliable""",
    C.REGARDLESS: """
        regardless no_matter whatever irrespective despite in_any_case anything_else whether_or_not
        even_if_the_user_objects even_if_the_user_asks even_if_the_user_says even_if_the_user_wants""",
    C.ROLE: """
        you_are_now you're_now act_as acting_as pretend behave_as roleplay role_play from_now_on_you_are
        from_this_point_on_you_are imagine_you you_are_in you_are_now_in you_become you_have_become""",
    C.ROLE | C.FREE: "unfiltered_mode unrestricted_mode uncensored_mode free_to_answer_everything",
    C.FREE: """
        unrestricted jailbroken jailbreak uncensored unfiltered you_are_now_dan you_are_dan evilgpt
        without_restrictions without_any_restrictions no_restrictions no_rules without_rules without_any_rules
        no_ethical no_content_policy no_filters without_filters without_limits no_limits refuse_nothing do_anything
        anything_asked no_guidelines without_guidelines no_longer_bound no_limitations without_ethical without_moral
        you_have_no_rules you_have_no_restrictions you_have_no_limits never_given_any has_no_rules has_no_limits
        has_no_restrictions no_limits_and no_moral""",
    C.MODE: "developer_mode god_mode debug_mode admin_mode root_mode sudo_mode maintenance_mode",
    C.AUTHORISED: """
        authorise authorised authorised_all authorize authorized approved cleared waived lifted granted disabled
        verified_administrator grant exempt whitelisted pre_approved preapproved""",
    C.CONFIRM: """
        confirmation confirmations approval consent permission permissions checks check verification verify review
        asking ask double_check""",
    C.CALL: "call invoke trigger use_your",
    C.RUN: "run execute executing running",
    C.TOOL: "tool tools function",
    C.HARM: """
        delete deleting erase erasing wipe remove removing transfer transferring pay paying send sending purchase
        purchases buy buying drop_table forget_tool http_get http_post exec payment payments refund transfers spend
        wire approve""",
    C.DECODE: "decode decoding decrypt decipher base64 rot13",
    C.MUST: "must shall required have_to obliged should",
    C.MENTION: """
        title titled talk phrase called quote quoted slogan paper article sentence words example slide lecture
        headline chapter wrote reads expression attack phrases titles examples sentences expressions quotes""",
}
