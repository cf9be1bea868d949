import { ATTRIBUTE_BYTES_LIMIT, type KernelFile, KernelFiles, ReadFailure } from '../kernel-file.ts'
import { isNumber, parseAttribute } from '../kernel-text.ts'
import type { SourceContext } from '../source.ts'
import { docaDiagLinkType } from './type.ts'

/** Counters of a port that count errors of its link. */
const KINDS = [
  'symbol_error',
  'link_error_recovery',
  'link_downed',
  'port_rcv_errors',
  'local_link_integrity_errors',
  'excessive_buffer_overrun_errors',
] as const

interface LinkCounter {
  readonly port: number
  readonly type: string
  readonly file: KernelFile
}

/** Errors of the links of one device, from the files of its RDMA driver. A missing file is no counter. */
export class LinkErrors {
  readonly #device: string
  readonly #context: SourceContext
  readonly #files: KernelFiles
  readonly #counters: readonly LinkCounter[]

  constructor(device: string, context: SourceContext) {
    this.#device = device
    this.#context = context
    this.#files = new KernelFiles(context.paths.sysfs, { fileBytesLimit: ATTRIBUTE_BYTES_LIMIT })
    const folder = ['class', 'infiniband', device, 'ports'] as const
    const ports = this.#files.list(...folder)
    this.#counters = (ports instanceof ReadFailure ? [] : ports).flatMap((port) =>
      KINDS.map((type) => ({ port: Number(port), type, file: this.#files.file(...folder, port, 'counters', type) })),
    )
  }

  report(time: bigint): void {
    for (const { port, type, file } of this.#counters) {
      const bytes = file.read()
      const errors = bytes instanceof ReadFailure ? undefined : parseAttribute(bytes)
      if (errors === undefined || !isNumber(errors)) continue
      this.#context.source.report(docaDiagLinkType, { time, device: this.#device, port, type, errors })
    }
  }

  /** Reports its series as gone. */
  gone(reason: string): void {
    for (const { port, type } of this.#counters)
      this.#context.absences.gone(docaDiagLinkType, { device: this.#device, port: String(port), type }, reason)
  }

  close(): void {
    this.#files.close()
  }
}
