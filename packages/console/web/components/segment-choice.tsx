/** A choice between a few options that are all in view. */
export function SegmentChoice<Value extends string>({
  label,
  options,
  value,
  onChange,
}: {
  readonly label: string
  readonly options: readonly (readonly [value: Value, title: string])[]
  readonly value: Value
  readonly onChange: (value: Value) => void
}) {
  return (
    <div className="segments-field">
      <span aria-hidden="true">{label}</span>
      <fieldset className="segments" aria-label={label}>
        {options.map(([option, title]) => (
          <button
            key={option}
            type="button"
            className="segment"
            aria-pressed={option === value}
            onClick={() => onChange(option)}
          >
            {title}
          </button>
        ))}
      </fieldset>
    </div>
  )
}
