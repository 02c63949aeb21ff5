"""What hands do without thinking: double clicks, two tabs on one project."""

TWICE = """async () => {
    const button = document.querySelector("button.main");
    let sent = 0;
    // The last to hear of it: what nobody has stopped would leave now.
    addEventListener("submit", (event) => { sent += event.defaultPrevented ? 0 : 1; event.preventDefault(); });
    button.form.requestSubmit(button);
    button.form.requestSubmit(button);
    // The page asks first whether its server is there.
    await new Promise((later) => setTimeout(later, 2000));
    return sent;
}"""


def test_a_double_click_sends_a_form_once(visit, ready):
    page = visit().go(f"{ready}/goals")
    assert page.evaluate(TWICE) == 1


def test_a_second_tab_does_not_undo_the_first(visit, opened_project):
    project = opened_project("tabs.csv")
    here, there = visit(), visit()
    one, other = here.go(f"{project}/goals"), there.go(f"{project}/goals")
    one.fill("#k", "7")
    one.click("text=Save and continue to Run")
    one.wait_for_url("**/run")
    other.fill("#purpose", "a study of wages")
    other.click("text=Save and continue to Run")
    other.wait_for_selector("#errors:focus")
    assert "changed in another tab" in other.locator("#errors").inner_text()
    assert other.input_value("#purpose") == "a study of wages"
    other.fill("#k", "7")
    other.click("text=Save and continue to Run")
    other.wait_for_url("**/run")
    page = here.go(f"{project}/goals")
    assert (page.input_value("#k"), page.input_value("#purpose")) == ("7", "a study of wages")


def test_back_and_reload_after_a_fault_send_nothing_again(visit, opened_project):
    """Every form that cannot be saved is shown by a request of its own, with what was typed."""
    project = opened_project("back.csv")
    there = visit()
    posted = []
    there.page.on("request", lambda request: posted.append(request.url) if request.method == "POST" else None)
    faulty = [
        (f"{project}/data", "#encoding", "klingon", "text=Read the file again"),
        (f"{project}/configuration", "#text", "k = [", "text=Save the file"),
        (f"{project}/hierarchies/0?view=start", "#widths", "5, 12", "text=Save this rule"),
    ]
    for address, field, typed, button in faulty:
        page = there.go(address)
        if "hierarchies" in address:
            page.check("input[value=intervals]")
        elif "data" in address:
            page.click("summary:has-text('How the file is read')")
        page.fill(field, typed)
        page.click(button)
        page.wait_for_selector("#errors:focus")
        assert page.input_value(field) == typed
        sent = len(posted)
        page.reload()
        assert page.input_value(field) == typed
        page.go_back()
        page.go_forward()
        page.wait_for_selector("#errors")
        assert page.input_value(field) == typed
        assert len(posted) == sent
        page.click("text=Discard changes")
        page.wait_for_selector("#errors", state="detached")
        assert page.input_value(field) != typed
    there.check()


def test_a_server_that_is_gone_is_noticed_and_nothing_typed_is_lost(visit, opened_project):
    project = opened_project("gone.csv")
    here = visit()
    page = here.go(f"{project}/goals")
    page.fill("#k", "9")
    page.fill("#purpose", "a study of wages")
    assert page.locator("#dead").is_hidden()
    page.context.set_offline(True)
    page.click("text=Save and continue to Run")
    page.wait_for_selector("#dead:not([hidden])")
    assert page.locator("#dead").is_visible()
    assert page.url.endswith("/goals")
    assert (page.input_value("#k"), page.input_value("#purpose")) == ("9", "a study of wages")
    # The browser itself says that nobody answered; nothing else does.
    assert here.said
    assert all("net::ERR" in each for each in here.said)
    here.said.clear()
    page.context.set_offline(False)
    page.click("text=Save and continue to Run")
    page.wait_for_url("**/run")
    page = here.go(f"{project}/goals")
    assert (page.input_value("#k"), page.input_value("#purpose")) == ("9", "a study of wages")
    assert page.locator("#dead").is_hidden()
