import { useNode } from '../api/resources.ts'
import { Icon } from '../components/icon.tsx'
import { formatDuration, formatSpanOfTime, zoneName } from '../format/time.ts'
import type { ChartModel } from './chart-model.ts'
import type { ChartSpec } from './chart-spec.ts'
import { drawPicture } from './picture.ts'
import type { Plot } from './plot.ts'

/**
 * Saves a chart as PNG, with all that is needed to read it: title, unit, legend, span, zone, and that it is simulated.
 */
export function SavePicture({
  spec,
  model,
  plot,
  onSave,
}: {
  readonly spec: ChartSpec
  readonly model: ChartModel
  readonly plot: Plot | undefined
  readonly onSave: (picture: Blob) => void
}) {
  const { data: node } = useNode()
  const save = (): void => {
    if (!plot) return
    const { fromMs, toMs, zone, stepMs } = model.plot
    const foot = [
      node?.node,
      `${formatSpanOfTime(fromMs, toMs, zone)} ${zoneName(zone, toMs)}`,
      spec.provenance?.replace('{step}', formatDuration(stepMs)),
      spec.isSimulated && '(simulated)',
    ]
    const words = {
      title: spec.title + (spec.isSimulated ? ' (simulated)' : ''),
      unit: model.unit.label,
      caption: spec.caption ?? '',
      foot: foot.filter(Boolean).join(' · '),
    }
    plot
      .picture((canvas, drawn, palette) => drawPicture(canvas, drawn, palette, words))
      .toBlob((blob) => {
        if (blob) onSave(blob)
      })
  }
  return (
    <button
      type="button"
      className="button icon-button is-small chart-save"
      aria-label={`Save ${spec.title} as PNG`}
      title="Save as PNG"
      disabled={!plot}
      onClick={save}
    >
      <Icon name="download" />
    </button>
  )
}
