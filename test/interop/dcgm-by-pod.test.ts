import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fixture, serveExporter } from '../../packages/agent/src/sources/scraping/test-exporter.ts'
import { needs } from '../debian.ts'
import { startSonde, temporaryDir, until } from '../sonde-process.ts'
import { type PrometheusPeer, startPrometheus } from './prometheus-peer.ts'

// Queries of dashboards for dcgm-exporter by pod and by job: a Prometheus that scrapes Sonde answers them like a
// Prometheus that scrapes the exporters.

/** One GPU of this node runs a job of a batch system; GPUs of the other node are shared by pods. */
const BODIES: Readonly<Record<string, string>> = {
  '/jobs': fixture('kubernetes').replaceAll(/(gpu="2".*)\}/g, '$1,hpc_job="4711"}'),
  '/shared': fixture('time-slicing').replaceAll('GPU-', 'GPU-shared-').replaceAll('gpu-node-a', 'gpu-node-b'),
}

/** Each query, with the number of series of its answer. */
const QUERIES: readonly (readonly [query: string, count: number])[] = [
  ['DCGM_FI_DEV_GPU_UTIL{pod="llama-7d9c-x2x4p", namespace="inference"}', 1],
  ['DCGM_FI_DEV_GPU_TEMP{pod=~"notebook-.*"}', 2],
  ['sum by (namespace, pod) (DCGM_FI_PROF_PIPE_TENSOR_ACTIVE)', 3],
  ['sum by (namespace, pod, container) (DCGM_FI_DEV_FB_USED{container!=""})', 4],
  ['avg by (Hostname, hpc_job) (DCGM_FI_DEV_POWER_USAGE{hpc_job!=""})', 1],
  ['max by (pod, vgpu) (DCGM_FI_DEV_POWER_USAGE{vgpu!=""})', 2],
  ['max by (pod, err_code, err_msg) (DCGM_FI_DEV_XID_ERRORS{err_code!=""})', 1],
  ['count by (modelName, DCGM_FI_DRIVER_VERSION) (DCGM_FI_DEV_SM_CLOCK)', 1],
  ['DCGM_FI_DEV_VGPU_LICENSE_STATUS{namespace="inference"}', 1],
]

/** The answer of an instant query by its labels, without those of the scrape. */
async function answerOf(peer: PrometheusPeer, query: string): Promise<Map<string, string>> {
  const { result } = (await peer.api(`query?query=${encodeURIComponent(query)}`)) as {
    result: { metric: Record<string, string>; value: [number, string] }[]
  }
  const entries = result.map(({ metric: { job: _job, instance: _instance, ...labels }, value: [, value] }) => {
    return [JSON.stringify(Object.entries(labels).sort()), value] as const
  })
  return new Map(entries.sort())
}

test('queries by pod and by job get the same answers as from exporters', needs('prometheus'), async (t) => {
  const exporter = await serveExporter('')
  t.after(() => exporter.close())
  exporter.answer = ({ url = '' }, response) => {
    response.writeHead(BODIES[url] === undefined ? 404 : 200, { 'content-type': 'text/plain' }).end(BODIES[url])
  }
  const { host, origin } = new URL(exporter.address)
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const file = join(dir.path, 'sonde.yaml')
  const addresses = Object.keys(BODIES).map((path) => `${origin}${path}`)
  writeFileSync(file, JSON.stringify({ data_sources: [{ type: 'dcgm_exporter', addresses, export: true }] }))
  const sonde = await startSonde(['agent', '--log-level', 'error', '--config', file])
  t.after(() => sonde.stop())
  const ofExporters = await startPrometheus(t, host, 1, { jobs: '/jobs', shared: '/shared' })
  const ofSonde = await startPrometheus(t, new URL(sonde.address).host, 1)
  for (const [query, count] of QUERIES) {
    const answers = await until(`an answer to ${query}`, 60_000, async () => {
      const both = await Promise.all([answerOf(ofExporters, query), answerOf(ofSonde, query)])
      return both.every(({ size }) => size >= count) && both
    })
    const [expected, found] = answers
    assert.equal(expected.size, count, query)
    assert.deepEqual(found, expected, query)
  }
})
