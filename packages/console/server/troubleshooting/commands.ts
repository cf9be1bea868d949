import type { ExporterInstall, SondeProgram } from '@sonde/sdk/api'
import { shellWord, sondeCommand } from '@sonde/sdk/internal'

/** Whom the commands are for. */
export interface Reader {
  readonly exporter: ExporterInstall
  readonly program: SondeProgram
  /** Address of the Prometheus; empty without one. */
  readonly backend: string
}

type ByInstall = Readonly<Record<ExporterInstall, readonly string[]>>

const PODS_OF_DRIVER: ByInstall = {
  helm: [],
  operator: ['kubectl get pods -A -l app=nvidia-driver-daemonset'],
  none: [],
}
const PODS_OF_PLUGIN: ByInstall = {
  helm: ['kubectl get pods -A -l app.kubernetes.io/name=nvidia-device-plugin'],
  operator: ['kubectl get pods -A -l app=nvidia-device-plugin-daemonset'],
  none: [],
}
const PODS_OF_EXPORTER: ByInstall = {
  helm: ['kubectl get pods -A -l app.kubernetes.io/name=dcgm-exporter'],
  operator: ['kubectl get pods -A -l app=nvidia-dcgm-exporter'],
  none: [],
}
const GPUS_OF_NODES = `kubectl get nodes -o custom-columns='NODE:.metadata.name,GPUS:.status.allocatable.nvidia\\.com/gpu'`

/** The driver, where the GPUs are. */
export function driverCommands({ exporter, program }: Reader): string[] {
  return [...PODS_OF_DRIVER[exporter], 'nvidia-smi', ...explains(program, 'nvml')]
}

/** The device plugin, and the GPUs that it offers. */
export function pluginCommands({ exporter }: Reader): string[] {
  return [...PODS_OF_PLUGIN[exporter], GPUS_OF_NODES]
}

/** The pods of the exporter. */
export function exporterCommands({ exporter, program }: Reader): string[] {
  return [...PODS_OF_EXPORTER[exporter], ...(exporter === 'none' ? [] : explains(program, 'dcgm_exporter'))]
}

/** The scrape of the exporter, by an agent or by the Prometheus. */
export function scrapeCommands({ program, backend }: Reader): string[] {
  if (program === 'agent') return explains(program, 'DCGM_FI_DEV_GPU_UTIL')
  const address = backend === '' ? 'http://PROMETHEUS:9090' : backend
  const ps = program === 'ps' ? [`${sondeCommand()} ps --prometheus ${shellWord(address)}`] : []
  return [...ps, `curl -sG ${shellWord(`${address}/api/v1/query`)} --data-urlencode 'query=up{job="dcgm-exporter"}'`]
}

/** The labels of all pods, or of a pod without an app. */
export function labelCommands({ program, backend }: Reader, pod?: { namespace: string; name: string }): string[] {
  const labels =
    pod === undefined
      ? 'kubectl get pods -A --show-labels'
      : `kubectl get pod -n ${shellWord(pod.namespace)} ${shellWord(pod.name)} --show-labels`
  const of = pod === undefined ? [] : explains(program, `${pod.namespace}/${pod.name}`)
  const ps = `${sondeCommand()} ps${backend === '' ? '' : ` --prometheus ${shellWord(backend)}`}`
  return [labels, ...(program === 'ps' ? [ps] : of)]
}

/** The parameters of GPUs. */
export function paramCommands(): string[] {
  return [`${sondeCommand()} params get | grep -E 'gpu_|dcgm_|nvidia_|prometheus_'`]
}

/** The audit lines of webhooks. */
export function webhookCommands({ exporter, program }: Reader): string[] {
  if (program === 'ps') return []
  const name = program === 'console' ? 'sonde-console' : 'sonde'
  return exporter === 'none'
    ? ['journalctl -u sonde | grep webhook_dispatch']
    : [`kubectl logs -n sonde -l app.kubernetes.io/name=${name} --tail=-1 | grep webhook_dispatch`]
}

/** Only an agent walks. */
function explains(program: SondeProgram, of: string): string[] {
  return program === 'agent' ? [`${sondeCommand()} explain ${shellWord(of)}`] : []
}
