import { SondeError, wallNs } from '@sonde/sdk'
import { type KernelFile, KernelFiles, ReadFailure } from '../kernel-file.ts'
import { type SampledSource, sampled } from '../sampled.ts'
import type { Probe, SourceContext, SourceDefinition } from '../source.ts'
import { type TemplateOptions, templateOptions } from './config.ts'
import { parseFileNr } from './parse.ts'
import { openFilesType } from './type.ts'

/** A small but complete source: copy the folder, and change the file that it reads. */
class TemplateSource implements SampledSource {
  readonly #options: TemplateOptions
  readonly #context: SourceContext
  readonly #procfs: KernelFiles
  readonly #file: KernelFile

  constructor(options: TemplateOptions, context: SourceContext) {
    this.#options = options
    this.#context = context
    this.#procfs = new KernelFiles(context.paths.procfs)
    this.#file = this.#procfs.file('sys', 'fs', 'file-nr')
  }

  probe(): Probe {
    const bytes = this.#file.readAnew()
    return bytes instanceof ReadFailure ? bytes.probe : { state: 'present', found: this.#file.path }
  }

  sample(): void {
    const bytes = this.#file.read()
    if (bytes instanceof ReadFailure) throw bytes.error
    const files = parseFileNr(bytes)
    if (files === undefined) throw new SondeError('SRC_READ', `${this.#file.path} does not hold three numbers`)
    const { allocated, limit } = files
    const { source, absences } = this.#context
    if (this.#options.limit) {
      source.report(openFilesType, { time: wallNs(), allocated, limit })
    } else {
      // An absent value is never reported as 0. The reason is reported once, not with every sample.
      absences.set(openFilesType, {}, 'limit', 'not_sampled', 'the option limit is off')
      source.report(openFilesType, { time: wallNs(), allocated })
    }
  }

  close(): void {
    this.#procfs.close()
  }
}

/** Registry row of the template. It is in no registry, because it only serves as an example. */
export const template: SourceDefinition = {
  name: 'template',
  summary: 'Open files of the node',
  types: [openFilesType],
  host: 'agent',
  intervalMs: 10_000,
  options: templateOptions,
  load: async () => ({
    create: (options, context) => sampled(new TemplateSource(options as TemplateOptions, context), context),
  }),
}
