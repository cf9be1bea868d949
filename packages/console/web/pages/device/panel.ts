import type { Labels, QueryFunction } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'
import type { ChartSpec } from '../../chart/chart-spec.ts'
import type { SeriesSlot } from '../../components/palette.ts'
import type { DisplayQuantity } from '../../format/quantity.ts'

/** A line of a panel, or a line per value of the label `each`. */
export interface PanelLine {
  readonly metric: string
  readonly function: QueryFunction
  /** Constant labels that select a field among the fields of the metric. */
  readonly labels?: Labels
  /** Name of the line. `{}` stands for the value of the label `each`. Without `{}` the value follows the name. */
  readonly label: string
  /**
   * A label with a line for each value, such as `priority`. With several labels, the name of a line joins the values
   * that tell the lines apart.
   */
  readonly each?: string | readonly string[]
  /** Short words for values of the label `each`. Default: the values themselves. */
  readonly words?: Readonly<Record<string, string>>
  /** Whether a value means up, for lanes of a state that is up or down. */
  readonly isUp?: (value: number) => boolean
  /** A metric whose newest value is the top of the lane. Default: all lanes share a scale. */
  readonly full?: string
  /** The device of the line, if it is not the device of the page. */
  readonly of?: DeviceInfo
  /**
   * A metric by whose value at the same time the values are divided. `value` is used before its first sample. Default
   * function: `last`, whose value holds until the next sample.
   */
  readonly per?: { readonly metric: string; readonly function?: QueryFunction; readonly value?: number | undefined }
}

/**
 * A panel of a device page: its queries and its drawing. Lines with one name are one quantity from several origins: the
 * first line with data is drawn.
 */
export interface DevicePanel {
  readonly id: string
  readonly title: string
  readonly quantity: DisplayQuantity
  readonly caption?: string
  readonly scale?: NonNullable<ChartSpec['scale']>
  readonly slots?: readonly SeriesSlot[]
  readonly lines: readonly PanelLine[]
  /** Hard limits as dotted lines: the newest value of a metric, or a known number. */
  readonly limits?: readonly { readonly label: string; readonly metric?: string; readonly value?: number | undefined }[]
  /** Whether each line has a chart of its own, because the lines differ in unit. Default: false. */
  readonly isApart?: boolean
  /** Shown if no source of this node reports any of the metrics. */
  readonly without: string
  /** A panel of a known dashboard that has no data anywhere, why, and so what this panel shows instead. */
  readonly replaces?: { readonly title: string; readonly reason: string }
}

/** A group of panels with a heading. */
export interface PanelSection {
  /** The part of the address after `#`. */
  readonly id: string
  /** Empty: no heading. */
  readonly title: string
  readonly panels: readonly DevicePanel[]
}
