import type { ComponentChildren } from "preact";

/** One titled part of a page; its id is what deep links and the contents list lead to. */
export function Section({
  id,
  title,
  lead,
  children,
}: {
  id: string;
  title: string;
  lead?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="section" id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`} tabIndex={-1}>
        {title}
      </h2>
      {lead !== undefined && <p class="lead">{lead}</p>}
      {children}
    </section>
  );
}

/** Rows behind a picture: closed until asked for. */
export function Behind({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <details class="behind">
      <summary>{title}</summary>
      {children}
    </details>
  );
}
