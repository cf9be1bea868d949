import { SondeError, wallNs } from '@sonde/sdk'
import { Interfaces } from '../ethtool/interfaces.ts'
import type { Missing } from '../field-absences.ts'
import { findProgram } from '../find-program.ts'
import { ReadFailure } from '../kernel-file.ts'
import { type RunningProgram, runProgram } from '../run-program.ts'
import { type SampledSource, sampled } from '../sampled.ts'
import type { Probe, SourceContext, SourceDefinition } from '../source.ts'
import { type DcbOptions, dcbOptions } from './config.ts'
import { dcbExplain } from './explain.ts'
import { dcbRefusal } from './parse.ts'
import { type AskDcb, DcbPort } from './port.ts'
import { dcbPortType } from './type.ts'

/** A program that runs for longer is killed: it waits for a driver. Unit: milliseconds. */
const LIMIT_MS = 2000
/** After this time a sweep asks no further interface; the next sweep does. Unit: milliseconds. */
const SWEEP_MS = 1000
/** Interfaces that are followed at most; further ones are dropped and counted. */
const INTERFACE_LIMIT = 1024

/** Quality of service of network adapters, by the program `dcb` of iproute2. */
class DcbSource implements SampledSource {
  readonly #program: string
  readonly #context: SourceContext
  readonly #interfaces: Interfaces
  readonly #ports = new Map<string, DcbPort>()
  #running: RunningProgram | undefined

  constructor({ dcb, devices }: DcbOptions, context: SourceContext) {
    this.#program = dcb
    this.#context = context
    this.#interfaces = new Interfaces({ devices, virtual: false }, context.paths)
  }

  probe(): Probe {
    if (findProgram(this.#program) !== undefined) return this.#interfaces.probe()
    return { state: 'absent', reason: `the program ${this.#program} of iproute2 is not installed` }
  }

  async sample(): Promise<void> {
    const file = findProgram(this.#program)
    if (file === undefined) throw new SondeError('SRC_READ', `the program ${this.#program} is no longer there`)
    this.#follow()
    await this.#askDue(file)
    const time = wallNs()
    for (const port of this.#ports.values()) port.report(time)
  }

  close(): void {
    this.#running?.kill()
  }

  #follow(): void {
    const names = this.#interfaces.list()
    if (names instanceof ReadFailure) throw names.error
    const present = new Set(names.slice(0, INTERFACE_LIMIT))
    if (names.length > present.size) this.#context.dropped('interface_limit', names.length - present.size)
    for (const [device, port] of this.#ports) {
      if (present.has(device)) continue
      port.leave()
      this.#ports.delete(device)
    }
    for (const device of present)
      if (!this.#ports.has(device)) this.#ports.set(device, new DcbPort(device, this.#context))
    if (present.size === 0)
      throw new SondeError('SRC_READ', `${this.#interfaces.folder} no longer has a requested interface`)
  }

  /** Asks one interface after another, so that there is one program at a time. */
  async #askDue(file: string): Promise<void> {
    const startMs = performance.now()
    for (const port of this.#ports.values()) {
      // A program that cannot be killed waits for a driver, and the next one would wait for the same lock.
      if (this.#running?.hasEnded === false || performance.now() - startMs > SWEEP_MS) return
      if (port.isDue(performance.now())) await port.ask(this.#askWith(file))
    }
  }

  #askWith(file: string): AskDcb {
    return (object, device) =>
      new Promise<string | Missing>((resolve) => {
        // After -- the name of an interface may start with a dash.
        const args = ['-N', '-j', '--', object, 'show', 'dev', device]
        this.#running = runProgram({ file, args, limitMs: LIMIT_MS, refusal: dcbRefusal }, resolve)
      })
  }
}

/** Registry row of the dcb source. */
export const dcb: SourceDefinition = {
  name: 'dcb',
  summary: 'Quality of service of network adapters: priority flow control, trust, priorities by DSCP',
  types: [dcbPortType],
  host: 'agent',
  intervalMs: 10_000,
  options: dcbOptions,
  explain: dcbExplain,
  load: async () => ({
    create: (options, context) => sampled(new DcbSource(options as DcbOptions, context), context),
  }),
}
