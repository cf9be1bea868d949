import type { DataSourceConfig } from '../sources/data-sources.ts'
import type { SourceDefinition } from '../sources/source.ts'
import type { ExplainOptions } from './explanation.ts'

/** The source whose devices no file of the kernel knows. */
export const SIMULATOR = 'simulator'

/** A kind of source, and one of the configured sources of that kind, where there is one. */
export interface Subject {
  readonly definition: SourceDefinition
  readonly config: DataSourceConfig | undefined
}

/** Every source that is configured, and every kind of source that is not. */
export function subjectsOf({ definitions, configured }: ExplainOptions): Subject[] {
  return definitions.flatMap((definition): Subject[] => {
    const configs = configured.filter((config) => config.definition.name === definition.name)
    return configs.length === 0
      ? [{ definition, config: undefined }]
      : configs.map((config) => ({ definition, config }))
  })
}

/** What the source is called. */
export function nameOf({ config, definition }: Subject): string {
  return config?.name ?? definition.name
}
