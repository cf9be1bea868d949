/** A field that limits a view to one of several options; the first option shows all. */
export function Choice({
  label,
  all,
  value,
  options,
  onChange,
}: {
  readonly label: string
  readonly all: string
  readonly value: string
  readonly options: readonly (readonly [value: string, title: string])[]
  readonly onChange: (value: string | undefined) => void
}) {
  return (
    <select
      className="input choice"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
    >
      <option value="">{all}</option>
      {options.map(([option, title]) => (
        <option key={option} value={option}>
          {title}
        </option>
      ))}
    </select>
  )
}
