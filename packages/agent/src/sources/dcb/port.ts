import fs from 'node:fs'
import { basename, join } from 'node:path'
import { FieldAbsences, Missing } from '../field-absences.ts'
import type { SourceContext } from '../source.ts'
import { parseApp, parsePfc, parseTrust } from './parse.ts'
import { dcbPortType } from './type.ts'

/** Settings change when people change them. Unit: milliseconds. */
const ASK_MS = 60_000
/** An interface without quality of service gets it with another driver or another `dcb`. Unit: milliseconds. */
const REFUSED_MS = 600_000
/** An older answer is no longer shown. Unit: milliseconds. */
const STALE_MS = 5 * ASK_MS

/** Asks `dcb` for one object of an interface: pfc, app or apptrust. */
export type AskDcb = (object: string, device: string) => Promise<string | Missing>

/** The answers of one interface; a value that is missing has its reason. */
type DcbValues = { readonly [Field in 'pfc_mask' | 'default_priority' | 'trust' | 'dscp_priorities']: unknown }

/** The quality of service of one interface, as it was last read. */
export class DcbPort {
  readonly #device: string
  readonly #context: SourceContext
  #absences: FieldAbsences
  #values: DcbValues | Missing | undefined
  #askedMs = Number.NEGATIVE_INFINITY
  #nextMs = 0

  constructor(device: string, context: SourceContext) {
    this.#device = device
    this.#context = context
    this.#absences = new FieldAbsences(context.absences, dcbPortType, { device })
  }

  /** Whether it is time to ask again. */
  isDue(nowMs: number): boolean {
    return nowMs >= this.#nextMs
  }

  /** Asks for everything. */
  async ask(ask: AskDcb): Promise<void> {
    this.#values = await this.#read(ask)
    this.#askedMs = performance.now()
    const isRefused = this.#values instanceof Missing && this.#values.code === 'unsupported'
    this.#nextMs = this.#askedMs + (isRefused ? REFUSED_MS : ASK_MS)
  }

  /** Reports the last answers; nothing before the first. */
  report(time: bigint): void {
    const values = this.#values
    if (values === undefined) return
    const isStale = !(values instanceof Missing) && performance.now() - this.#askedMs > STALE_MS
    const found = this.#absences.settle('', isStale ? new Missing('failed', 'dcb no longer answers') : values)
    if (found === undefined) return
    this.#absences.tell(found, 'no default priority is set')
    const known = Object.entries(found).filter(([, value]) => !(value instanceof Missing))
    this.#context.source.report(dcbPortType, { time, device: this.#device, ...Object.fromEntries(known) })
  }

  /** Takes the series out of every view, because the interface is gone. */
  leave(): void {
    const { absences } = this.#context
    absences.gone(dcbPortType, { device: this.#device }, `interface ${this.#device} is no longer there`)
    this.#absences = new FieldAbsences(absences, dcbPortType, { device: this.#device })
  }

  async #read(ask: AskDcb): Promise<DcbValues | Missing> {
    const device = this.#device
    const pfc = parsed(await ask('pfc', device), parsePfc)
    // A driver without priority flow control has no other quality of service worth three programs a minute.
    if (pfc instanceof Missing) return pfc
    const app = parsed(await ask('app', device), parseApp)
    const trust = parsed(await ask('apptrust', device), parseTrust)
    const { dscp_priorities, default_priority } =
      app instanceof Missing ? { dscp_priorities: app, default_priority: app } : app
    return { pfc_mask: pfc, default_priority, dscp_priorities, trust: this.#trust(trust, dscp_priorities) }
  }

  /** mlx5 does not report what it trusts, but keeps priorities of DSCPs only while it trusts DSCP. */
  #trust(trust: string | Missing, map: string | Missing): string | Missing {
    const isTold = typeof trust === 'string' || trust.code !== 'unsupported'
    if (isTold || map instanceof Missing || this.#driver() !== 'mlx5_core') return trust
    return map === 'none' ? 'pcp' : 'dscp'
  }

  #driver(): string {
    try {
      const { sysfs } = this.#context.paths
      return basename(fs.readlinkSync(join(sysfs, 'class', 'net', this.#device, 'device', 'driver')))
    } catch {
      return ''
    }
  }
}

function parsed<T>(answer: string | Missing, parse: (output: string) => T | Missing): T | Missing {
  return answer instanceof Missing ? answer : parse(answer)
}
