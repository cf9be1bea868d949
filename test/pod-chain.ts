import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { PodsAnswer } from '@sonde/sdk/api'
import { ask } from './ask.ts'
import { ApiServerDouble } from './doubles/api-server/api-server-double.ts'
import { KubeletDouble } from './doubles/kubelet/kubelet-double.ts'
import { NvmlDouble } from './doubles/nvml/nvml-double.ts'
import { startSonde, temporaryDir, until } from './sonde-process.ts'

/** More of {@link startPodChain}. */
interface More {
  /** Default: `agent`, which has no page. */
  readonly command?: 'agent' | 'up'
  readonly sources?: readonly object[]
  /** What the driver answers from the start; see `NvmlDouble`. */
  readonly driver?: Readonly<Record<string, number>>
  readonly paths?: { readonly procfs: string }
}

/** The whole agent over the doubles of driver, kubelet and API server. */
export async function startPodChain(
  t: TestContext,
  { command = 'agent', sources = [], driver = {}, paths }: More = {},
) {
  const nvml = new NvmlDouble(t)
  nvml.play(driver)
  const kubelet = await new KubeletDouble(t).start()
  const api = await ApiServerDouble.start(t)
  const dir = temporaryDir()
  const token = join(dir.path, 'token')
  writeFileSync(token, 'token-of-the-test')
  api.tokens = ['token-of-the-test']
  t.after(() => dir.remove())
  const file = join(dir.path, 'sonde.yaml')
  const config = {
    native: { nvml_library: nvml.folder },
    ...(paths && { paths }),
    export: { prometheus: { copy_pod_labels: true } },
    data_sources: [
      { type: 'nvml', interval_ms: 1000 },
      {
        ...{ type: 'kubernetes', interval_ms: 1000, kubelet_socket: kubelet.socket, node_name: 'node-a' },
        ...{ api_server: api.address, api_token_file: token, api_ca_file: '' },
        pod_labels: ['team'],
      },
      ...sources,
    ],
  }
  writeFileSync(file, JSON.stringify(config))
  const data = command === 'up' ? ['--data-dir', join(dir.path, 'data')] : []
  const sonde = await startSonde([command, '--log-level', 'error', '--config', file, ...data])
  t.after(() => sonde.stop())
  const pods = (what: string, holds: (answer: PodsAnswer) => boolean) =>
    until(what, 60_000, async () => {
      const answer = await ask<PodsAnswer>(sonde, '/api/v1/pods')
      return holds(answer) && answer
    })
  return { file, sonde, kubelet, api, pods }
}

/** The GPU of a driver that is there. */
export function firstGpu(sonde: { readonly address: string }): Promise<string> {
  return until('the GPUs', 60_000, async () => {
    const text = await (await fetch(`${sonde.address}/metrics`)).text()
    return /DCGM_FI_DEV_GPU_UTIL\{gpu="0",UUID="([^"]+)"/.exec(text)?.[1] ?? false
  })
}
