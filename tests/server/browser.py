"""A real browser without a screen: Debian's chromium, driven by its chromedriver."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

OPTIONS = (
    "--headless",
    "--no-sandbox",  # tests may run as root
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-unsafe-swiftshader",  # WebGL without a graphics card
    "--window-size=1280,900",
)


def paths() -> tuple[str, str] | None:
    """Return where the browser and its driver are, if both are installed."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


class Browser:
    """The page as a person uses it."""

    def __init__(self, profile: Path, downloads: Path) -> None:
        found = paths()
        assert found is not None
        options = webdriver.ChromeOptions()
        options.binary_location = found[0]
        for option in (*OPTIONS, f"--user-data-dir={profile}"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(found[1]))
        self._send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))
        self.set_dark(False)

    def open(self, address: str) -> None:
        """Go to a page afresh."""
        self.driver.get("about:blank")
        self.driver.get(address)
        self.wait(lambda: "labels" in self.text("model"))

    def element(self, selector: str) -> Any:
        """Return the first element that a CSS selector finds."""
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def elements(self, selector: str) -> list[Any]:
        """Return all elements that a CSS selector finds."""
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, name: str) -> str:
        """Return what an element shows, by its id."""
        return self.element(f"#{name}").text

    def texts(self, selector: str) -> list[str]:
        """Return what elements show."""
        return self.run(
            "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)",
            selector,
        )

    def click(self, selector: str) -> None:
        """Click on an element."""
        self.element(selector).click()

    def type(self, selector: str, text: str) -> None:
        """Type into an element."""
        self.element(selector).send_keys(text)

    def press(self, *keys: str) -> None:
        """Press keys wherever the focus is."""
        self.driver.switch_to.active_element.send_keys(*keys)

    def slide(self, name: str, value: int) -> None:
        """Move a slider with the keyboard."""
        slider = self.element(f"#{name}")
        for _ in range(110):
            now = int(slider.get_property("value"))
            if now == value:
                return
            slider.send_keys(Keys.ARROW_RIGHT if now < value else Keys.ARROW_LEFT)
        raise AssertionError(f"the slider {name} does not reach {value}")

    def run(self, script: str, *arguments: Any) -> Any:
        """Run JavaScript on the page."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition: Callable[[], Any], seconds: float = 30) -> Any:
        """Wait until something is so."""
        ends = time.monotonic() + seconds
        while True:
            try:
                found = condition()
            except Exception:
                found = None
            if found:
                return found
            assert time.monotonic() < ends, f"not so after {seconds} s"
            time.sleep(0.05)

    def set_dark(self, dark: bool) -> None:
        """Let the system prefer dark or light."""
        value = "dark" if dark else "light"
        self._send(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": value}],
        )

    def set_size(self, width: int, height: int, *, phone: bool = False) -> None:
        """Make the window a phone's or a desk's."""
        self._send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )

    def offline_problems(self) -> list[str]:
        """Return what the page complained about, and forget it."""
        told = [entry["message"] for entry in self.driver.get_log("browser")]
        # Said of the tests' own look at the pixels, of a test that is quicker than the page, and
        # of a machine without a graphics card.
        ours = ("willReadFrequently", "Autofocus processing was blocked", "GPU stall", "WebGL")
        return [message for message in told if not any(one in message for one in ours)]

    def save_picture(self, path: Path) -> None:
        """Keep what is to be seen."""
        self.driver.save_screenshot(str(path))

    def quit(self) -> None:
        """End the browser."""
        self.driver.quit()

    def _send(self, command: str, **parameters: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, parameters)
