export interface Option {
  readonly id: string;
  readonly title: string;
}

/** One of several: buttons where they are few, a list where they are many. */
export function Choice({
  title,
  options,
  value,
  onChange,
}: {
  title: string;
  options: readonly Option[];
  value: string;
  onChange: (id: string) => void;
}) {
  if (options.length < 2) return null;
  if (options.length > 4) {
    return (
      <label class="choice">
        <span>{title}</span>
        <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {options.map((option) => (
            <option key={option.id} value={option.id}>
              {option.title}
            </option>
          ))}
        </select>
      </label>
    );
  }
  return (
    <fieldset class="choice">
      <legend class="unseen">{title}</legend>
      <span class="choice-buttons">
        {options.map((option) => (
          <button
            key={option.id}
            type="button"
            aria-pressed={option.id === value}
            onClick={() => onChange(option.id)}
          >
            {option.title}
          </button>
        ))}
      </span>
    </fieldset>
  );
}
