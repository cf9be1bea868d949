import { APP_LABELS, labelSpelling, SERVICE_LABELS } from '@sonde/sdk/internal'
import { functionOf, type Grain } from '../prometheus/expressions.ts'
import { promqlDuration, selectorOf } from '../prometheus/promql.ts'

/** Matches series of an NVIDIA exporter or of kube-state-metrics. */
export interface Raw {
  readonly metrics: readonly string[]
  /** Larger values are blank values of DCGM, or means that contain one. */
  readonly most: number
  /** Memory is read at the end of a step, because a mean could hide a blank value. */
  readonly isMean: boolean
}

const MEMORY = { most: 2 ** 31 - 17, isMean: false }
const RATIO = { most: 1, isMean: true }

/** Series of exporters by a short name of ours, with the current metric names and those of DCGM 4.6. */
export const RAWS = {
  util: { metrics: ['DCGM_FI_DEV_GPU_UTIL', 'DCGM_FI_DEV_GPU_UTIL_RATIO'], most: 100, isMean: true },
  used: { metrics: ['DCGM_FI_DEV_FB_USED'], ...MEMORY },
  free: { metrics: ['DCGM_FI_DEV_FB_FREE'], ...MEMORY },
  reserved: { metrics: ['DCGM_FI_DEV_FB_RESERVED'], ...MEMORY },
  tensor: { metrics: ['DCGM_FI_PROF_PIPE_TENSOR_ACTIVE', 'DCGM_FI_PROF_TENSOR_UTIL_RATIO'], ...RATIO },
  sm: { metrics: ['DCGM_FI_PROF_SM_ACTIVE', 'DCGM_FI_PROF_SM_UTIL_RATIO'], ...RATIO },
  dram: { metrics: ['DCGM_FI_PROF_DRAM_ACTIVE', 'DCGM_FI_PROF_DRAM_UTIL_RATIO'], ...RATIO },
  fp16: { metrics: ['DCGM_FI_PROF_PIPE_FP16_ACTIVE', 'DCGM_FI_PROF_FP16_UTIL_RATIO'], ...RATIO },
  fp32: { metrics: ['DCGM_FI_PROF_PIPE_FP32_ACTIVE', 'DCGM_FI_PROF_FP32_UTIL_RATIO'], ...RATIO },
  power: { metrics: ['DCGM_FI_DEV_POWER_USAGE', 'DCGM_FI_DEV_BOARD_POWER_WATTS'], most: 100_000, isMean: true },
} as const satisfies Readonly<Record<string, Raw>>

/** Our short name for series of exporters. */
export type RawName = keyof typeof RAWS

/** Labels that identify the GPU, the pod and the target of a series. */
const KEPT = [
  ...['UUID', 'uuid', 'GPU_I_ID', 'Hostname', 'hostname', 'job', 'instance'],
  ...['pod', 'pod_name', 'exported_pod', 'namespace', 'pod_namespace', 'exported_namespace'],
  ...[...APP_LABELS, ...SERVICE_LABELS].map(labelSpelling).flatMap((name) => [name, `exported_${name}`]),
].join(', ')

const GPU_RESOURCE = 'nvidia_com_(gpu|gpu_shared|mig_.+)'

/** Values of GPUs that pods may hold, one for each GPU, instance, pod and target. */
export function rawExpression(name: RawName, fn: 'last' | 'avg', grain: Grain): string {
  const { metrics, most, isMean } = RAWS[name]
  return `max by (${KEPT}) (${functionOf(isMean ? fn : 'last', metrics, [], grain)} <= ${most})`
}

/** Age of the samples of GPUs. Unit: seconds. */
export function ageExpression(): string {
  const [metric] = RAWS.used.metrics
  return `time() - max by (${KEPT}) (timestamp(${selectorOf([metric], [])}))`
}

/** The target labels of targets with GPU series: such a label belongs to the target, not to a workload. */
export function targetExpression(grain: Grain): string {
  const up = `max by (job, instance, pod, app, service) (${lastOf('up', grain)})`
  return `${up} and on (job, instance) max by (job, instance) (${lastOf(RAWS.used.metrics[0], grain)})`
}

/** The number of rows of agents; nothing if there are none. */
export function agentExpression(grain: Grain): string {
  return `count(${lastOf('pod_gpus', grain)})`
}

/** Whether targets are up that have GPU series, or had some within an hour. */
export function exporterTargetExpression(grain: Grain): string {
  const [metric] = RAWS.used.metrics
  const had = `max by (job, instance) (last_over_time(${selectorOf([metric], [])}[1h]))`
  return `max by (job, instance) (${lastOf('up', grain)}) and on (job, instance) ${had}`
}

/** The number of GPUs and MIG instances with series of exporters; nothing if there are none. */
export function gpuCountExpression(grain: Grain): string {
  return `count(max by (UUID, uuid, GPU_I_ID, Hostname, hostname) (${lastOf(RAWS.used.metrics[0], grain)}))`
}

/** GPU requests of pods that have not finished. */
export function requestExpression(grain: Grain): string {
  const one = 'max by (namespace, pod, uid, container, resource)'
  const asked = ofWorkload(lastOf('kube_pod_container_resource_requests', grain, ['resource', GPU_RESOURCE]))
  const ended = ofWorkload(lastOf('kube_pod_status_phase', grain, ['phase', 'Succeeded|Failed']))
  const left = `max by (namespace, pod, uid) (${ended}) == 1`
  const summed = `sum by (namespace, pod, uid) (${one} (${asked}))`
  return `max by (namespace, pod) (${summed} unless on (namespace, pod, uid) (${left}))`
}

/** Start times of these pods. Unit: seconds since the Unix epoch. */
export function startExpression(grain: Grain): string {
  const started = `max by (namespace, pod) (${ofWorkload(lastOf('kube_pod_start_time', grain))})`
  return `${started} and on (namespace, pod) ${requestExpression(grain)}`
}

/** Whether these pods have a node: 1 if they do, 0 while they wait for one. */
export function scheduledExpression(grain: Grain): string {
  const told = ofWorkload(lastOf('kube_pod_status_scheduled', grain, ['condition', 'true']))
  const named = ofWorkload(lastOf('kube_pod_container_resource_requests', grain, ['node', '.+']))
  const scheduled = `(max by (namespace, pod) (${named}) * 0 + 1 or max by (namespace, pod) (${told}))`
  return `${scheduled} and on (namespace, pod) ${requestExpression(grain)}`
}

/** App and service of these pods, as labels. */
export function labelExpression(grain: Grain): string {
  const names = [...APP_LABELS, ...SERVICE_LABELS].map((name) => `label_${labelSpelling(name)}`)
  const labels = `max by (namespace, pod, ${names.join(', ')}) (${ofWorkload(lastOf('kube_pod_labels', grain))})`
  return `${labels} and on (namespace, pod) ${requestExpression(grain)}`
}

/** Nodes of GPU pods, as agents report them. */
export function infoExpression(grain: Grain): string {
  return `max by (namespace, pod, node_name) (${lastOf('pod_info', grain)})`
}

/** GPUs and MIG instances that pods hold, as agents report them. */
export function heldExpression(grain: Grain): string {
  return `max by (namespace, pod, UUID, GPU_I_ID, Hostname) (${lastOf('pod_device_present', grain)}) == 1`
}

/** Nodes, phases and reasons to wait of GPU pods, as kube-state-metrics reports them: a label has the text. */
export function clusterExpression(fact: 'node' | 'phase' | 'reason', grain: Grain): string {
  const told = ofWorkload(lastOf(CLUSTER_METRICS[fact], grain))
  const held = `max by (namespace, pod) (${lastOf('pod_gpus', grain)})`
  return `max by (namespace, pod, ${fact}) (${told}) == 1 and on (namespace, pod) (${requestExpression(grain)} or ${held})`
}

/** Metrics of kube-state-metrics with one series for each text, of which the true one is 1. */
export const CLUSTER_METRICS = {
  node: 'kube_pod_info',
  phase: 'kube_pod_status_phase',
  reason: 'kube_pod_container_status_waiting_reason',
} as const

function lastOf(metric: string, { stepMs, holdMs }: Grain, match?: readonly [label: string, value: string]): string {
  const matchers = match === undefined ? [] : [{ label: match[0], op: '=~' as const, value: match[1] }]
  return `last_over_time(${selectorOf([metric], matchers)}[${promqlDuration(Math.max(stepMs, holdMs) - 1)}])`
}

/**
 * Without `honor_labels`, `pod` names the pod of kube-state-metrics itself, and the labels of the described pods are
 * renamed.
 */
function ofWorkload(expression: string): string {
  const pod = `label_replace(${expression}, "pod", "$1", "exported_pod", "(.+)")`
  return `label_replace(${pod}, "namespace", "$1", "exported_namespace", "(.+)")`
}
