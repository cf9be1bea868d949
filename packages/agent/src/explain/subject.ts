import type { DataSourceConfig } from '../sources/data-sources.ts'
import type { SourceDefinition } from '../sources/source.ts'
import type { ExplainOptions } from './explanation.ts'

/** The source whose devices are not in the kernel's files. */
export const SIMULATOR = 'simulator'

/** A kind of source, with a configured source of that kind, if any. */
export interface Subject {
  readonly definition: SourceDefinition
  readonly config: DataSourceConfig | undefined
}

/** Every configured source, and every kind of source that is not configured. */
export function subjectsOf({ definitions, configured }: ExplainOptions): Subject[] {
  return definitions.flatMap((definition): Subject[] => {
    const configs = configured.filter((config) => config.definition.name === definition.name)
    return configs.length === 0
      ? [{ definition, config: undefined }]
      : configs.map((config) => ({ definition, config }))
  })
}

/** The configured name of the source, or the name of its kind. */
export function nameOf({ config, definition }: Subject): string {
  return config?.name ?? definition.name
}
