import type { Labels, ListedSource, ListedType } from '@sonde/sdk/api'

/** Type of the source that simulates others. */
const SIMULATOR = 'simulator'

/**
 * Names of the sources that may report a series: sources of its type, and only simulators for simulated series. A sum
 * has lost the label of simulated series, so simulators count if nothing else reports the type. Empty if no listed
 * source reports the type, for example for records of an application.
 */
export function sourcesOf(
  metric: string,
  labels: Labels,
  types: readonly ListedType[],
  sources: readonly ListedSource[],
): readonly string[] {
  const names = types.filter(({ fields }) => fields.some((field) => field.metric === metric)).map(({ name }) => name)
  const reporting = sources.filter((source) => source.types.some((type) => names.includes(type)))
  const alike = reporting.filter(({ type }) => (type === SIMULATOR) === (labels.simulated === 'true'))
  return (alike.length > 0 ? alike : reporting).map(({ name }) => name)
}
