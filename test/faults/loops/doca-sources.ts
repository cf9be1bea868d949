import { DOMAIN_DEVICES, DOMAINS, devicesWith, readDomains } from '../../../packages/agent/test/doca-domains.ts'
import { until } from '../../sonde-process.ts'
import type { FaultLoop, FaultRun } from '../loop.ts'

const LIMIT_MS = 60_000
/** So seldom the child crashes, in a call of one domain after the other; it waits longer after each crash. */
const CRASH_EVERY_ROUNDS = 20

/** Removes a device while all DOCA sources read it, and crashes the child in the calls of each source. */
export const docaSources: FaultLoop = {
  name: 'doca-sources',
  what: 'a DOCA device is removed under load and returns, or a call of one of five sources crashes: every source reads the other devices all the while, and the device again afterwards, and no context is left over',
  // `every-source.test.ts` of the DOCA child is its short form.
  testRounds: 0,
  async open(): Promise<FaultRun> {
    const ends: (() => unknown)[] = []
    const started = await readDomains({ after: (end) => void ends.unshift(end as () => unknown) })
    const { double, moves, child } = started
    const { mlx5_1: _, ...others } = devicesWith()
    const rest = Object.keys(others)
    const contexts = rest.length * Object.keys(DOMAINS).length
    let removals = 0
    return {
      async round(random, index) {
        if (index % CRASH_EVERY_ROUNDS === 0) {
          const before = child()
          const { read } = random.pick(Object.values(DOMAINS))
          double.play(devicesWith({ faults: [`segv ${read}`] }))
          await until('the child crashed', LIMIT_MS, () => child() > 0 && child() !== before)
        } else {
          double.play(others)
          await moves('removed', rest)
          await until(
            'its contexts are released',
            LIMIT_MS,
            () => double.stats().get(child())?.get('contexts') === contexts,
          )
          removals++
        }
        double.play(devicesWith())
        await moves('returned', DOMAIN_DEVICES)
      },
      async close() {
        const { restarts } = await started.told()
        for (const end of ends) await end()
        return `${removals} removals, ${restarts} children replaced`
      },
    }
  },
}
