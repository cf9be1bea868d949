import { formatDuration } from '../../format/time.ts'
import { stepFor, usePageState } from '../../state/time-window.ts'

const STEPS_MS = [100, 200, 500, 1_000, 2_000, 5_000, 15_000, 60_000, 300_000, 3_600_000]
/** Most points of a series that the server returns. */
const POINT_LIMIT_COUNT = 11_000

/** Step of the samples: automatic or chosen. */
export function StepSelect({ byWindowMs }: { readonly byWindowMs: number }) {
  const page = usePageState()
  const { range, url } = page
  const spanMs = range.kind === 'live' ? range.windowMs : range.toMs - range.fromMs
  const steps = new Set(STEPS_MS.filter((stepMs) => spanMs / stepMs <= POINT_LIMIT_COUNT && stepMs < spanMs / 2))
  if (url.stepMs !== undefined) steps.add(url.stepMs)
  return (
    <label className="field">
      Step
      <select
        className="input"
        value={url.stepMs ?? ''}
        onChange={(event) => {
          const { value } = event.currentTarget
          page.change({ stepMs: value === '' ? undefined : Number(value) }, 'push')
        }}
      >
        <option value="">by window, {formatDuration(url.stepMs === undefined ? byWindowMs : stepFor(spanMs))}</option>
        {[...steps]
          .sort((a, b) => a - b)
          .map((stepMs) => (
            <option key={stepMs} value={stepMs}>
              {formatDuration(stepMs)}
            </option>
          ))}
      </select>
    </label>
  )
}
