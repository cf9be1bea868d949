import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { type TestContext, test } from 'node:test'
import { type RecordType, wallNs } from '@sonde/sdk'
import type { TargetStatus } from '@sonde/sdk/api'
import * as v from 'valibot'
import { until } from '../../../sdk/test/helper.ts'
import { serveAgent } from '../../test/served-agent.ts'
import { dcgmExporter } from '../sources/dcgm-exporter/dcgm-exporter.ts'
import { nvmlGpuInfoType, nvmlGpuType } from '../sources/nvml/type.ts'
import { pciDeviceType } from '../sources/pci/type.ts'
import { sampled } from '../sources/sampled.ts'
import { fixture, serveExporter, withBody } from '../sources/scraping/test-exporter.ts'
import type { SourceDefinition } from '../sources/source.ts'

/** The source with other options than its defaults, in the process of the test. */
function scraping(addresses: readonly string[], isExported: boolean): SourceDefinition {
  return {
    ...dcgmExporter,
    host: 'agent',
    isExported: (options, type) => dcgmExporter.isExported?.({ ...options, export: isExported }, type) ?? true,
    async load() {
      const { create } = await dcgmExporter.load()
      return { create: (options, context) => create({ ...options, addresses, export: isExported }, context) }
    },
  }
}

/** An agent that has read one exporter, beside an exporter that never answers. */
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

/** A line of an exporter about one GPU. */
function lineOf(metric: string, value: number, labels: Readonly<Record<string, string>>): string {
  const gpu = { gpu: '0', UUID: 'GPU-1', pci_bus_id: '00000000:1B:00.0', device: 'nvidia0', modelName: 'H100' }
  return `${metric}${textOfLabels({ ...gpu, Hostname: 'node-a', ...labels })} ${value}\n`
}

function textOfLabels(labels: Readonly<Record<string, string>>): string {
  const written = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  return `{${written.join(',')}}`
}

const UTIL = 'DCGM_FI_DEV_GPU_UTIL'

test('a GPU is exported with all labels that its exporter gives, and its series follow its pods', async (t) => {
  const trainer = { container: 'main', namespace: 'ml', pod: 'trainer-0', hpc_job: '4711', dra_claim_name: 'claim' }
  const notebook = { container: 'main', namespace: 'ml', pod: 'a"b', vgpu: '1' }
  const exporter = await serveExporter(
    [
      lineOf(UTIL, 90, trainer),
      lineOf('DCGM_FI_DEV_XID_ERRORS', 31, { ...trainer, err_code: '31', err_msg: 'GPU memory page fault' }),
      lineOf('DCGM_FI_DEV_MAX_SM_CLOCK', 1980, trainer),
      lineOf('DCGM_FI_DEV_POWER_MGMT_LIMIT_MAX', 700, trainer),
      lineOf('DCGM_FI_DEV_FB_USED', 1e9, trainer),
    ].join(''),
  )
  t.after(() => exporter.close())
  const { address } = await serveAgent(t, { sources: [scraping([exporter.address], true)] })
  const linesOf = async (metric: string) => {
    const page = await (await fetch(`${address}/metrics`, { headers: { connection: 'close' } })).text()
    return page.split('\n').filter((line) => line.startsWith(`${metric}{`))
  }
  const [util = '', ...others] = await until('the series of the pod', async () => {
    const lines = await linesOf(UTIL)
    return lines.length > 0 && lines
  })
  assert.deepEqual(others, [], 'the device has no series of its own beside that of its pod')
  for (const [name, value] of Object.entries(trainer)) assert.ok(util.includes(`${name}="${value}"`), util)
  const [xid = ''] = await linesOf('DCGM_FI_DEV_XID_ERRORS')
  assert.match(xid, /hpc_job="4711".*err_code="31",err_msg="GPU memory page fault"\} 31$/)
  assert.match((await linesOf('DCGM_FI_DEV_MAX_SM_CLOCK')).join(), /pod="trainer-0".*\} 1980$/)
  assert.match((await linesOf('DCGM_FI_DEV_POWER_MGMT_LIMIT_MAX')).join(), /pod="trainer-0".*\} 700$/)
  assert.deepEqual(await linesOf('DCGM_FI_DEV_FB_USED'), [], 'a GPU has no petabyte of memory')

  // The pod ends, and two that share the GPU begin.
  exporter.answer = withBody(
    lineOf(UTIL, 60, notebook) + lineOf(UTIL, 30, { ...notebook, pod: 'b' }) + lineOf(UTIL, 80, {}),
  )
  const shared = await until('the series of the next pods', async () => {
    const lines = await linesOf(UTIL)
    return lines.some((line) => line.includes('pod="b"')) && lines
  })
  assert.equal(shared.filter((line) => line.includes('trainer-0')).length, 0, 'the series of the pod has ended')
  assert.deepEqual(
    shared.map((line) => /pod="[^,]*"|$/.exec(line)?.[0]),
    ['pod="a\\"b"', 'pod="b"', ''],
  )
  const answer = await fetch(`${address}/api/v1/series?metric=${UTIL}`, { headers: { connection: 'close' } })
  const { series } = (await answer.json()) as { series: readonly { labels: Record<string, string>; value: string }[] }
  assert.deepEqual(
    series.map(({ labels, value }) => [labels.pod, value]),
    [[undefined, '80']],
    'history and page have one series of the GPU',
  )

  exporter.answer = (_, response) => void response.writeHead(500).end()
  await until('no series of an exporter that fails', async () => (await linesOf(UTIL)).length === 0)
})

/** A record of now; texts that are not given are empty. */
function filled(type: RecordType, values: object): never {
  const texts = type.layout.slots.filter(({ field }) => field.kind === 'symbol' && !field.optional)
  return { time: wallNs(), ...Object.fromEntries(texts.map(({ name }) => [name, ''])), ...values } as never
}

/** A source that reads the hardware itself: a GPU and a NIC of this node, from its third sample on. */
function firstHand(): SourceDefinition {
  const gpu = { gpu: '0', UUID: 'GPU-real', Hostname: hostname(), pci_address: '0000:1b:00.0' }
  const nic = { pci_address: '0000:e1:00.0', class: 'network', model: 'ConnectX-7' }
  let samples = 0
  return {
    name: 'first_hand',
    summary: 'A GPU and a NIC',
    types: [nvmlGpuInfoType, pciDeviceType],
    host: 'agent',
    intervalMs: 50,
    options: v.strictObject({}),
    load: async () => ({
      create: (_, context) =>
        sampled(
          {
            probe: () => ({ state: 'present', found: 'a GPU' }),
            sample() {
              if (++samples < 3) return
              context.source.report(nvmlGpuInfoType, filled(nvmlGpuInfoType, gpu))
              context.source.report(pciDeviceType, filled(pciDeviceType, nic))
            },
            close: () => undefined,
          },
          context,
        ),
    }),
  }
}

/** A body about one GPU of this node, which a pod of the app llama holds. */
function bodyAbout(gpu: Readonly<Record<string, string>>): string {
  const labels = { ...gpu, Hostname: hostname(), namespace: 'evil', pod: 'evil-0', container: 'c', app: 'llama' }
  const written = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  return `DCGM_FI_DEV_GPU_UTIL{${written.join(',')}} 1\n`
}

test('what a source reads off the hardware itself, no exporter takes: not its index, its place, nor a NIC', async (t) => {
  const exporter = await serveExporter(bodyAbout({ gpu: '0', UUID: 'GPU-forged', pci_bus_id: '00000000:1B:00.0' }))
  t.after(() => exporter.close())
  const { agent, address } = await serveAgent(t, { sources: [scraping([exporter.address], false), firstHand()] })
  const disputeAbout = (uuid: string) =>
    until(`the dispute about ${uuid}`, async () => {
      const answer = await fetch(`${address}/api/v1/sources/dcgm_exporter`, { headers: { connection: 'close' } })
      const { targets } = (await answer.json()) as { targets: readonly TargetStatus[] }
      return targets[0]?.disputes.find(({ subject }) => subject === `GPU ${uuid} of ${hostname()}`)
    })
  const present = () => agent.devices.list().filter(({ goneMs }) => goneMs === undefined)
  assert.equal((await disputeAbout('GPU-forged')).holder, 'first_hand')
  const gpus = present().filter(({ kind }) => kind === 'gpu')
  assert.deepEqual(
    gpus.map(({ id, labels, source }) => [id, labels.UUID, source]),
    [['gpu-0', 'GPU-real', 'first_hand']],
  )
  assert.ok(!present().some(({ kind }) => kind === 'pod'), 'no pod comes with it')
  for (const gpu of [
    { gpu: '9', UUID: 'GPU-ninth', pci_bus_id: '' },
    { gpu: '0', UUID: 'GPU-real', pci_bus_id: '00000000:E1:00.0' },
  ]) {
    exporter.answer = withBody(bodyAbout(gpu))
    assert.equal((await disputeAbout(gpu.UUID)).holder, 'first_hand')
  }
  const nic = agent.devices.deviceOf(pciDeviceType, { pci_address: '0000:e1:00.0' })
  assert.equal(nic?.id, 'pci-0000:e1:00.0', 'what is said of the NIC is said of the NIC')
})
