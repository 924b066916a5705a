// Search runs in a worker, and browsers start none for pages that are opened from disk. There, a frame takes its place.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = "<!doctype html>";
      this.frame.addEventListener("load", () => this.start(new URL(url, document.baseURI)), { once: true });
      document.body.append(this.frame);
    }

    start(url) {
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...names) => Promise.all(names.map((name) => this.load(new URL(name, url))));
      this.load(url).then(() => {
        const waiting = this.waiting;
        this.waiting = undefined;
        waiting.forEach((data) => this.postMessage(data));
      });
    }

    load(url) {
      return new Promise((done) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = url;
        script.addEventListener("load", done);
        this.frame.contentDocument.body.append(script);
      });
    }

    postMessage(data) {
      if (this.waiting) {
        this.waiting.push(data);
      } else {
        this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
      }
    }

    terminate() {
      this.frame.remove();
    }
  };
}
