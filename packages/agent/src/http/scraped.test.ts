import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { until } from '../../../sdk/test/helper.ts'
import { serveAgent } from '../../test/served-agent.ts'
import { dcgmExporter } from '../sources/dcgm-exporter/dcgm-exporter.ts'
import { nvmlGpuType } from '../sources/nvml/type.ts'
import { fixture, serveExporter } from '../sources/scraping/test-exporter.ts'
import type { SourceDefinition } from '../sources/source.ts'

/** The source with other options than its defaults, in the process of the test. */
function scraping(addresses: readonly string[], isExported: boolean): SourceDefinition {
  return {
    ...dcgmExporter,
    host: 'agent',
    isExported: () => isExported,
    async load() {
      const { create } = await dcgmExporter.load()
      return { create: (options, context) => create({ ...options, addresses }, context) }
    },
  }
}

/** An agent with one exporter that answers and one that never does, once it has read the first. */
async function bringUp(t: TestContext, isExported: boolean) {
  const exporters = await Promise.all(['gpu-node-h', 'gpu-node-a'].map((node) => serveExporter(bodyOf(node))))
  const [hung] = exporters
  if (hung !== undefined) hung.answer = () => undefined
  t.after(() => {
    for (const exporter of exporters) exporter.close()
  })
  const addresses = exporters.map(({ address }) => address)
  const { agent, address } = await serveAgent(t, { sources: [scraping(addresses, isExported)] })
  await until('a scrape beside one that hangs', () => agent.recent.batches(nvmlGpuType).length > 1)
  const metrics = await fetch(`${address}/metrics`, { headers: { connection: 'close' } })
  return { agent, hung, text: await metrics.text() }
}

function bodyOf(node: string): string {
  return fixture('kubernetes').replaceAll('gpu-node-a', node)
}

test('what was scraped is in the devices and the history, and not in /metrics again', async (t) => {
  const { agent, hung, text } = await bringUp(t, false)
  assert.doesNotMatch(text, /DCGM_FI_|nvml_|pod_device/)
  assert.match(text, /^steady_samples_total\{/m, 'other sources are there')
  const gpus = agent.devices.list().filter(({ kind }) => kind === 'gpu')
  assert.deepEqual(
    gpus.map(({ id, model }) => `${id} ${model}`),
    [0, 1, 2].map((gpu) => `gpu-${gpu}@gpu-node-a H100 SXM 80 GB`),
  )
  assert.ok((hung?.requests ?? 0) > 0, 'the one that hangs was asked')
})

test('asked to, /metrics has what was scraped, under the names of DCGM', async (t) => {
  const { text } = await bringUp(t, true)
  assert.match(text, /^DCGM_FI_DEV_GPU_UTIL\{gpu="0",UUID="GPU-5b4d[^}]*Hostname="gpu-node-a"[^}]*\} 0*97$/m)
  assert.match(text, /^# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter$/m)
})
