import { usePageState, WINDOWS } from '../state/time-window.ts'

/** Chooses the live window. A zoomed page shows a button to go back to live. */
export function WindowControl() {
  const page = usePageState()
  const current = page.range.kind === 'live' ? page.range.windowMs : undefined
  return (
    <fieldset className="segments" aria-label="Window">
      {WINDOWS.map(({ label, windowMs }) => (
        <button
          key={label}
          type="button"
          className="segment"
          aria-pressed={current === windowMs}
          onClick={() => page.follow(windowMs)}
        >
          {label}
        </button>
      ))}
    </fieldset>
  )
}
