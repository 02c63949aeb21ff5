"""What hands do without thinking: double clicks, two tabs on one project."""


def test_a_double_click_sends_a_form_once(visit, ready):
    here = visit()
    page = here.go(f"{ready}/goals")
    sent = []
    # No answer comes, so that the page stays and takes the second click as well.
    page.route("**/goals", lambda route: sent.append(route.request.method) or route.fulfill(status=204))
    page.dblclick("text=Save and go on to the run")
    # A click on a page that works is answered in order: what came before it was sent or not by now.
    page.click("summary:has-text('What the promises mean')")
    page.wait_for_selector("details[open] summary:has-text('What the promises mean')")
    assert sent == ["POST"]


def test_a_second_tab_does_not_undo_the_first(visit, opened_project):
    project = opened_project("tabs.csv")
    here, there = visit(), visit()
    one, other = here.go(f"{project}/goals"), there.go(f"{project}/goals")
    one.fill("#k", "7")
    one.click("text=Save and go on to the run")
    one.wait_for_url("**/run")
    other.fill("#purpose", "a study of wages")
    other.click("text=Save and go on to the run")
    other.wait_for_selector("#errors:focus")
    assert "changed meanwhile" in other.locator("#errors").inner_text()
    assert other.input_value("#purpose") == "a study of wages"
    other.fill("#k", "7")
    other.click("text=Save and go on to the run")
    other.wait_for_url("**/run")
    page = here.go(f"{project}/goals")
    assert (page.input_value("#k"), page.input_value("#purpose")) == ("7", "a study of wages")
