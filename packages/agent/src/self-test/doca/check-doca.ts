import { SondeError } from '@sonde/sdk'
import { messageOf } from '@sonde/sdk/internal'
import { DocaDevice } from '../../native/doca/device.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import { DocaLibrary } from '../../native/doca/library.ts'
import { type DocaDeviceNames, DocaRoster } from '../../native/doca/roster.ts'
import { KernelContext } from '../../sources/chains/chain-context.ts'
import { findDocaLibrary } from '../../sources/doca/find-library.ts'
import { driverVersion, libraryVersion, taintOf } from '../../sources/doca/versions.ts'
import { type CheckVerdict, failed, notPossible, passed } from '../check.ts'
import { type Planned, type SendFromTest, type TestPlan, testPartOf } from '../protocol.ts'
import { checkAdpRetx } from './adp-retx-checks.ts'
import { type Bench, type DocaPart, verdictOf } from './bench.ts'
import { DEVICE_CHECKS, DIAG_CHECKS, type DocaCheck, LIBRARY_CHECKS, type LibraryCheck } from './checks.ts'
import { readDeviceFacts, type TestedDevice, taintBits } from './device-facts.ts'
import { checkDiag } from './diag-checks.ts'
import { checkDpa } from './dpa-checks.ts'
import { checkDomains, checkNewer, checkParallel, checkPermission } from './library-checks.ts'
import { checkPcc } from './pcc-checks.ts'
import { checkPci } from './pci-checks.ts'
import { checkPhy } from './phy-checks.ts'

/** Devices that are tested at most. */
const DEVICES_MAX = 16
const LIST_MS = 5000

type CheckPart = (bench: Bench, acceptsTaint: boolean) => Promise<void>

/** Parts of a device that are only read, in the order in which they are tested. */
const READ_PARTS: Readonly<Partial<Record<DocaPart, CheckPart>>> = {
  phy: checkPhy,
  pci: checkPci,
  pcc: checkPcc,
  dpa: checkDpa,
  adp_retx: checkAdpRetx,
}
/** Checks of the library and of the node stand for device 0. */
const LIBRARY = 0
const LEFT_OUT = 'left out: sampling taints the kernel until the next boot; --accept-taint makes this check'

/** Tests the DOCA libraries and their devices, and sends what it finds. */
export async function testDoca(plan: TestPlan, send: SendFromTest): Promise<void> {
  const context = new KernelContext(plan.paths)
  const fact = (of: string, value: string) => send({ kind: 'fact', fact: { of, value } })
  fact('Driver', await driverVersion(context))
  fact('Kernel taint', await taintOf(context))
  const library = loadedLibrary(plan)
  if (typeof library === 'string') return send({ kind: 'nothing', reason: library })
  fact('DOCA', libraryVersion(library.paths.telemetry) ?? 'of an unknown version')
  if (library.isDouble) fact('Library', 'a double of the test suite: its answers are no evidence of hardware')
  const listed = await new DocaRoster(library, LIST_MS).list()
  if (listed instanceof DocaFailure) return send({ kind: 'nothing', reason: listed.error.message })
  if (listed.length === 0) return send({ kind: 'nothing', reason: 'the library lists no device' })
  send({ kind: 'named', names: hiddenNames(listed) })
  const names = listed.slice(0, DEVICES_MAX).map(({ name }) => name)
  const facts = await Promise.all(names.map((name) => readDeviceFacts(context, name)))
  for (const [at, one] of facts.entries()) fact(`Device ${at + 1}`, factsText(one))
  if (listed.length > DEVICES_MAX) fact('Other devices', `${listed.length - DEVICES_MAX}, not tested`)
  await new DocaTest({ library, names, facts, context, plan, send }).run()
}

function loadedLibrary({ paths }: TestPlan): DocaLibrary | string {
  const found = findDocaLibrary(paths.doca_library)
  if (typeof found === 'string') return found
  try {
    return new DocaLibrary(found)
  } catch (error) {
    if (!(error instanceof SondeError)) throw error
    return messageOf(error)
  }
}

interface Parts {
  readonly library: DocaLibrary
  /** RDMA names of the tested devices, and what the kernel reports about each. */
  readonly names: readonly string[]
  readonly facts: readonly TestedDevice[]
  readonly context: KernelContext
  readonly plan: TestPlan
  readonly send: SendFromTest
}

class DocaTest {
  readonly #parts: Parts
  readonly #made: Set<string>
  readonly #answers = { read: 0, denied: 0 }

  constructor(parts: Parts) {
    this.#parts = parts
    this.#made = new Set(parts.plan.made)
  }

  async run(): Promise<void> {
    const { library, names, context, send } = this.#parts
    const perDevice = Object.keys({ ...DEVICE_CHECKS, ...DIAG_CHECKS })
    const ofLibrary = Object.keys(LIBRARY_CHECKS).map((check) => ({ check, device: LIBRARY }))
    const ofDevices = names.flatMap((_, at) => perDevice.map((check) => ({ check, device: at + 1 })))
    send({ kind: 'planned', checks: [...ofLibrary, ...ofDevices] })
    const taintBefore = await taintBits(context)
    await this.#checkLibrary('library.domains', () => checkDomains(library))
    await this.#checkLibrary('library.newer', () => checkNewer(library))
    for (const at of names.keys())
      for (const [part, check] of Object.entries(READ_PARTS)) await this.#checkPart(part as DocaPart, at, check)
    await this.#checkLibrary('library.parallel', () => checkParallel(library, names))
    await this.#checkLibrary('library.permission', () => checkPermission(context, this.#answers))
    await this.#checkLibrary('library.taint', async () => taintOfReading(taintBefore, await taintBits(context)))
    for (const at of names.keys()) await this.#checkPart('diag', at, checkDiag)
  }

  async #checkLibrary(check: LibraryCheck, make: () => CheckVerdict | Promise<CheckVerdict>): Promise<void> {
    if (!this.#isOpen({ check, device: LIBRARY })) return
    this.#begin(check, LIBRARY)
    this.#report(check, LIBRARY, await verdictOfMaking(make))
  }

  async #checkPart(part: DocaPart, at: number, run: CheckPart): Promise<void> {
    const { library, names, facts, plan } = this.#parts
    const number = at + 1
    const checks = (Object.keys({ ...DEVICE_CHECKS, ...DIAG_CHECKS }) as DocaCheck[]).filter((check) =>
      check.startsWith(`${part}.`),
    )
    if (!checks.some((check) => this.#isOpen({ check, device: number }))) return
    this.#begin(`${part}.capabilities`, number)
    const device = await DocaDevice.open(library, names[at] ?? '')
    if (device instanceof DocaFailure) this.#report(`${part}.capabilities`, number, verdictOf(device, names[at] ?? ''))
    else {
      const check: Bench['check'] = async (name, make) => {
        this.#begin(name, number)
        this.#report(name, number, await verdictOfMaking(make))
      }
      await run({ device, facts: facts[at] as TestedDevice, pauseMs: plan.pauseMs, check }, plan.acceptsTaint)
      await device.close()
    }
    const isTaint = part === 'diag' && !plan.acceptsTaint
    const reason = isTaint ? LEFT_OUT : `see ${part}.capabilities`
    for (const check of checks)
      if (!this.#made.has(keyOf(check, number))) this.#report(check, number, notPossible(reason))
  }

  /** Whether an earlier child has neither made a check nor ended there. */
  #isOpen(planned: Planned): boolean {
    return (
      !this.#made.has(keyOf(planned.check, planned.device)) && !this.#parts.plan.skipped.includes(testPartOf(planned))
    )
  }

  #begin(check: DocaCheck, device: number): void {
    this.#parts.send({ kind: 'begun', check, device })
  }

  #report(check: DocaCheck, device: number, verdict: CheckVerdict): void {
    this.#made.add(keyOf(check, device))
    if (check.endsWith('.capabilities')) this.#answers[verdict.state === 'passed' ? 'read' : 'denied']++
    this.#parts.send({ kind: 'result', result: { check, device, verdict } })
  }
}

function keyOf(check: string, device: number): string {
  return `${check} ${device}`
}

/** A device is known by its place in the list; its names may hold an address or the name of a project. */
function hiddenNames(listed: readonly DocaDeviceNames[]): [name: string, shown: string][] {
  return listed.flatMap(({ name, netdev }, at) =>
    [name, netdev].map((one): [string, string] => [one, `device ${at + 1}`]),
  )
}

function taintOfReading(before: bigint | undefined, after: bigint | undefined): CheckVerdict {
  if (before === undefined || after === undefined) return notPossible('the kernel does not report its taint')
  return before === after ? passed(`${after}, as before`) : failed(`${before}, as before`, `${after}`)
}

async function verdictOfMaking(make: () => CheckVerdict | Promise<CheckVerdict>): Promise<CheckVerdict> {
  try {
    return await make()
  } catch (error) {
    return failed('an answer', messageOf(error))
  }
}

function factsText({ model, firmware, rate }: TestedDevice): string {
  const speed = rate === undefined ? '' : `, ${(rate.rate_bytes_per_second * 8) / 1e9} Gbit/s`
  return `${model}, firmware ${firmware}${speed}`
}
