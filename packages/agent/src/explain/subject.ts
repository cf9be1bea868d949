import type { DataSourceConfig } from '../sources/data-sources.ts'
import type { SourceDefinition } from '../sources/source.ts'
import type { ExplainOptions } from './explanation.ts'

/** The source whose devices are not in the kernel's files. */
export const SIMULATOR = 'simulator'

/** A kind of source, with a configured source of that kind, if any. */
export interface SourceSubject {
  readonly definition: SourceDefinition
  readonly config: DataSourceConfig | undefined
}

/** Every configured source, and every kind of source that is not configured. */
export function sourceSubjects({ definitions, configured }: ExplainOptions): SourceSubject[] {
  return definitions.flatMap((definition): SourceSubject[] => {
    const configs = configured.filter((config) => config.definition.name === definition.name)
    return configs.length === 0
      ? [{ definition, config: undefined }]
      : configs.map((config) => ({ definition, config }))
  })
}

/** The configured name of the source, or the name of its kind. */
export function subjectName({ config, definition }: SourceSubject): string {
  return config?.name ?? definition.name
}
