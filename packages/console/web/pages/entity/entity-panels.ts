import type { ListedMetric, ListedType } from '@sonde/sdk/api'
import { titleOf } from '../../format/names.ts'
import { quantityOf } from '../../format/quantity.ts'
import { metricLabelNames, metricsOfType } from '../../state/listed-metrics.ts'
import { firstFunction } from '../../state/signal.ts'
import type { DevicePanel, PanelLine } from '../device/panel.ts'

/** Most charts of an entity. Further fields are in the table of counters. */
export const PANEL_LIMIT_COUNT = 24

/** The types about a kind of entity. Types that define the kind come first. */
export function typesOf(kind: string, types: readonly ListedType[]): readonly ListedType[] {
  const own = types.filter(({ entity }) => entity?.kind === kind)
  return own.toSorted((a, b) => Number(b.entity?.defines ?? false) - Number(a.entity?.defines ?? false))
}

/** A panel per metric with a line per series of the entity. Counters are drawn as rates. */
export function entityPanels(types: readonly ListedType[]): readonly DevicePanel[] {
  const fields = types.flatMap((type) => metricsOfType(type).map((field) => ({ type, field })))
  return fields
    .filter(({ field }) => field.role === 'counter' || field.role === 'gauge')
    .slice(0, PANEL_LIMIT_COUNT)
    .map(({ type, field }) => panelOf(type, field))
}

function panelOf(type: ListedType, field: ListedMetric): DevicePanel {
  const { name, entity } = type
  const title = fieldTitle(field)
  const line = { metric: field.metric, function: firstFunction(field), label: title }
  return {
    id: field.metric,
    title,
    quantity: quantityOf({ ...field, function: line.function }),
    lines: [
      withEach(
        line,
        metricLabelNames(type, field.metric).filter((label) => !entity?.key.includes(label)),
      ),
    ],
    without: `No series of the type ${name} has it.`,
  }
}

function withEach(line: PanelLine, each: readonly string[]): PanelLine {
  return each.length === 0 ? line : { ...line, each }
}

/** The title of a field without its unit: `turns_total` becomes `Turns`, `heat_celsius` becomes `Heat`. */
export function fieldTitle({ name, unit }: Pick<ListedMetric, 'name' | 'unit'>): string {
  const counted = name.replace(/_total$/, '')
  return titleOf(unit !== '' && counted.endsWith(`_${unit}`) ? counted.slice(0, -unit.length - 1) : counted)
}
