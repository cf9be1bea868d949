import type { Labels, RecordType } from '@sonde/sdk'
import { labelOf } from '@sonde/sdk/internal'

/**
 * A name for people, for a series without a device in the list of devices: its reporter, type and label values, such as
 * `bakery oven left`.
 * @param reporter The application; empty for a source of the agent.
 * @param labels Labels of the series and its source. Labels of the source are left out, because the reporter names it.
 */
export function seriesName(
  reporter: string,
  { name, labels: slots }: Pick<RecordType, 'name' | 'labels'>,
  labels: Labels,
): string {
  const values = slots.map((slot) => labelOf(labels, slot.name)).filter((value) => value !== '')
  return [reporter, name, values.join('/')].filter((part) => part !== '').join(' ')
}
