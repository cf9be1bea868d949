import type { Labels, ListedSource, ListedType } from '@sonde/sdk/api'

/** Type of the source that simulates others. */
const SIMULATOR = 'simulator'

/**
 * Names of the sources that may report a series: sources of its type, and only simulators for simulated series. Empty
 * if no listed source reports the type, for example for records of an application.
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
