/** A switch with a label for screen readers. */
export function Switch({
  label,
  isOn,
  isLocked = false,
  describedBy,
  onSwitch,
}: {
  readonly label: string
  readonly isOn: boolean
  readonly isLocked?: boolean
  /** Id of the text that says why it is locked. */
  readonly describedBy?: string
  readonly onSwitch: (isOn: boolean) => void
}) {
  return (
    <button
      type="button"
      role="switch"
      className="switch"
      aria-checked={isOn}
      aria-label={label}
      aria-describedby={describedBy}
      disabled={isLocked}
      onClick={() => onSwitch(!isOn)}
    >
      <span className="switch-knob" />
    </button>
  )
}
