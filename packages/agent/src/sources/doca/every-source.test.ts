import assert from 'node:assert/strict'
import { test } from 'node:test'
import { absenceType, messageOf } from '@sonde/sdk/internal'
import { needs } from '../../../../../test/debian.ts'
import { DocaDouble } from '../../../../../test/doubles/doca/doca-double.ts'
import { until } from '../../../../sdk/test/helper.ts'
import { DOMAIN_DEVICES, DOMAINS, devicesWith, readDomains } from '../../../test/doca-domains.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { SOURCES } from './sources.ts'

// Faults of one device, or of the library, while all sources that only read share its child process. `npm run faults --
// doca-sources` goes on with them.

const NEEDS = needs('cc')

test('a hang costs one source of one device, a crash and a removal cost nothing for long', NEEDS, async (t) => {
  const { double, child, moves, scrape } = await readDomains(t)
  const steadyCount = async () => (await scrape('steady_samples_total{device="dev0"}'))[0]

  await t.test('a call that hangs costs the series of its source and device alone', async () => {
    for (const [domain, { read }] of Object.entries(DOMAINS)) {
      double.play(devicesWith({ faults: [`hang ${read}`] }))
      await moves(`${read} hangs`, ['mlx5_0', 'mlx5_2'], [domain])
      double.play(devicesWith())
      await moves(`${read} came back`, DOMAIN_DEVICES, [domain])
    }
  })

  await t.test('a device that is removed under load leaves all sources, and comes back', async () => {
    const { mlx5_1: _, ...others } = devicesWith()
    double.play(others)
    await moves('removed', ['mlx5_0', 'mlx5_2'])
    const rest = Object.keys(others).length * Object.keys(DOMAINS).length
    await until('the contexts of the device are released', () => double.total('contexts') === rest)
    double.play(devicesWith())
    await moves('returned', DOMAIN_DEVICES)
  })

  // A crash of the accelerator's calls is in the tests of its source, which has to find its notes again.
  await t.test('a crash in a call of one source ends the child, and another child reads everything again', async () => {
    for (const domain of ['phy', 'pci', 'pcc'] as const) {
      const before = child()
      double.play(devicesWith({ faults: [`segv ${DOMAINS[domain].read}`] }))
      await until(`a call of ${domain} crashed`, () => child() !== before)
      double.play(devicesWith())
      const steady = await steadyCount()
      await until('a source without the library goes on', async () => (await steadyCount()) !== steady)
      await moves(`after a crash of ${domain}`, DOMAIN_DEVICES)
    }
  })
})

test('a library without a function that a source needs costs this source, with the reason', NEEDS, async (t) => {
  const domains = ['diag', 'phy', 'pci', 'pcc', 'dpa']
  const double = new DocaDouble(t, { without: domains.map((domain) => `doca_telemetry_${domain}_create`) })
  double.play(devicesWith())
  for (const domain of domains) {
    const definition = SOURCES.find(({ name }) => name.endsWith(`_${domain}`)) ?? assert.fail(domain)
    const tested = new TestedSource(definition, { ...new TestNode(t).paths, doca_library: double.folder })
    t.after(() => tested.source.close())
    const told = [await tested.source.sample().catch(messageOf), ...tested.thrown.map(messageOf)]
    const reasons = tested.take().filter(({ type }) => type === absenceType)
    const all = [...told, ...reasons.map(({ record }) => String(record.reason))].join('\n')
    assert.match(all, new RegExp(`doca_telemetry_${domain}_create answers NO_SYMBOL, .* install DOCA 3\\.2 or newer`))
  }
})
