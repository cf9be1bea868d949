import { SondeError } from '@sonde/sdk'
import { messageOf } from '@sonde/sdk/internal'
import { DocaDevice } from '../../native/doca/device.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import { DocaLibrary } from '../../native/doca/library.ts'
import { type DocaDeviceNames, DocaRoster } from '../../native/doca/roster.ts'
import { KernelContext } from '../../sources/chains/chain-context.ts'
import { findDocaLibrary } from '../../sources/doca/find-library.ts'
import { driverVersion, libraryVersion, taintOf } from '../../sources/doca/versions.ts'
import { failed, type Verdict } from '../check.ts'
import type { FromTest, TestPlan } from '../protocol.ts'
import { placeOf } from '../protocol.ts'
import type { Bench } from './bench.ts'
import { READING_CHECKS } from './checks.ts'
import { type DeviceFacts, readDeviceFacts } from './device-facts.ts'
import { checkPhy } from './phy-checks.ts'

/** Devices that are tested at most. */
const DEVICES_MAX = 16
const LIST_MS = 5000

/** Parts of a device, in the order in which they are tested. */
const PARTS: Readonly<Record<string, (bench: Bench) => Promise<void>>> = { phy: checkPhy }

/** Tests the DOCA libraries and their devices, and sends what it finds. */
export async function testDoca(plan: TestPlan, send: (message: FromTest) => void): Promise<void> {
  const context = new KernelContext(plan.paths)
  const fact = (of: string, value: string) => send({ kind: 'fact', fact: { of, value } })
  fact('Driver', await driverVersion(context))
  fact('Kernel taint', await taintOf(context))
  const found = findDocaLibrary(plan.paths.doca_library)
  if (typeof found === 'string') return send({ kind: 'nothing', reason: found })
  fact('DOCA', libraryVersion(found.telemetry) ?? 'of an unknown version')
  let library: DocaLibrary
  try {
    library = new DocaLibrary(found)
  } catch (error) {
    if (!(error instanceof SondeError)) throw error
    return send({ kind: 'nothing', reason: messageOf(error) })
  }
  if (library.isDouble) fact('Library', 'a double of the test suite: its answers are no evidence of hardware')
  const listed = await new DocaRoster(library, LIST_MS).list()
  if (listed instanceof DocaFailure) return send({ kind: 'nothing', reason: listed.error.message })
  if (listed.length === 0) return send({ kind: 'nothing', reason: 'the library lists no device' })
  const names = listed.slice(0, DEVICES_MAX).map(({ name }) => name)
  send({ kind: 'named', names: hiddenNames(listed) })
  const facts = await Promise.all(names.map((name) => readDeviceFacts(context, name)))
  for (const [at, one] of facts.entries()) fact(`Device ${at + 1}`, factsText(one))
  const planned = names.flatMap((_, at) => Object.keys(READING_CHECKS).map((check) => ({ check, device: at + 1 })))
  send({ kind: 'planned', checks: planned })
  for (const [at, name] of names.entries())
    await testDevice({ library, name, number: at + 1, facts: facts[at] as DeviceFacts }, plan, send)
}

interface TestedDevice {
  readonly library: DocaLibrary
  readonly name: string
  readonly number: number
  readonly facts: DeviceFacts
}

async function testDevice(
  { library, name, number, facts }: TestedDevice,
  plan: TestPlan,
  send: (message: FromTest) => void,
): Promise<void> {
  for (const [part, run] of Object.entries(PARTS)) {
    if (plan.skipped.includes(placeOf({ check: part, device: number }))) continue
    const device = await DocaDevice.open(library, name)
    if (device instanceof DocaFailure) continue
    await run({
      device,
      facts,
      pauseMs: plan.pauseMs,
      async check(check, make) {
        send({ kind: 'begun', check, device: number })
        send({ kind: 'result', result: { check, device: number, verdict: await verdictOfMaking(make) } })
      },
    })
    await device.close()
  }
}

/** A device is known by its place in the list; its names may hold an address or the name of a project. */
function hiddenNames(listed: readonly DocaDeviceNames[]): [name: string, shown: string][] {
  return listed.flatMap(({ name, netdev }, at) =>
    [name, netdev].map((one): [string, string] => [one, `device ${at + 1}`]),
  )
}

async function verdictOfMaking(make: () => Verdict | Promise<Verdict>): Promise<Verdict> {
  try {
    return await make()
  } catch (error) {
    return failed('an answer', messageOf(error))
  }
}

function factsText({ model, firmware, rate }: DeviceFacts): string {
  const speed = rate === undefined ? '' : `, ${(rate.rate_bytes_per_second * 8) / 1e9} Gbit/s`
  return `${model}, firmware ${firmware}${speed}`
}
