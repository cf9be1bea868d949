import type { Labels, ListedSource, ListedType } from '@sonde/sdk/api'

/** Type of the source that simulates others. */
const SIMULATOR = 'simulator'

/**
 * Names of the sources that a series can come from: those that report the type of its metric, simulated series from
 * simulators and all others from the rest. Empty if no source of the list reports it, as with what an application
 * sends.
 */
export function sourcesOf(
  metric: string,
  labels: Labels,
  types: readonly ListedType[],
  sources: readonly ListedSource[],
): readonly string[] {
  const names = types.filter(({ fields }) => fields.some((field) => field.metric === metric)).map(({ name }) => name)
  return sources
    .filter((source) => source.types.some((type) => names.includes(type)))
    .filter(({ type }) => (type === SIMULATOR) === (labels.simulated === 'true'))
    .map(({ name }) => name)
}
