import { type Labels, labelOf, type RecordType } from '@sonde/sdk'

/**
 * What people call a series that is about nothing in the list of devices: who reports it, its type, and the values of
 * its labels, such as `bakery oven left`.
 *
 * @param reporter The application, or empty for a source of the agent.
 * @param labels Of the series, with those of its source: these tell nothing that the reporter does not.
 */
export function seriesName(
  reporter: string,
  { name, labels: slots }: Pick<RecordType, 'name' | 'labels'>,
  labels: Labels,
): string {
  const values = slots.map((slot) => labelOf(labels, slot.name)).filter((value) => value !== '')
  return [reporter, name, values.join('/')].filter((part) => part !== '').join(' ')
}
