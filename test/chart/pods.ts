import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/setup.mjs'
import { objectsIn } from './helm.ts'
import type { KubernetesObject } from './kubernetes-types.ts'

/** Where a probe asks. */
interface TestProbe {
  readonly path: string
  readonly scheme?: string
}

/** The parts of a container that a test uses. */
export interface TestContainer {
  readonly name: string
  readonly args?: readonly string[]
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[]
  readonly image: string
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[]
  readonly resources: { readonly limits: { readonly cpu: string; readonly memory: string } }
  readonly securityContext: Readonly<Record<string, unknown>>
  readonly livenessProbe: { readonly httpGet: TestProbe }
  readonly readinessProbe: { readonly httpGet: TestProbe }
}

/** A volume of a pod. */
export interface TestVolume {
  readonly name: string
  readonly hostPath?: { readonly path: string }
}

/** Name of the node in place of the field `spec.nodeName`. */
export const NODE_NAME = 'gpu-17'

/** The only container of a DaemonSet or Deployment, its volumes, and the configuration file of its ConfigMap. */
export interface TestPod {
  readonly container: TestContainer
  readonly volumes: readonly TestVolume[]
  readonly config: string
}

/** The pod of the DaemonSet or Deployment in a file. */
export function containerIn(path: string): TestPod {
  return podOf(objectsIn(readFileSync(join(root, path), 'utf8')))
}

/** The pod of the first DaemonSet or Deployment among objects. */
export function podOf(objects: readonly KubernetesObject[]): TestPod {
  const pods = objects.find(({ kind }) => kind === 'DaemonSet' || kind === 'Deployment')
  assert.ok(pods !== undefined, 'there is a DaemonSet or a Deployment')
  const { template } = pods.spec as { template: { spec: { containers: [TestContainer]; volumes: TestVolume[] } } }
  const { containers, volumes } = template.spec
  const data = objects.find(({ kind }) => kind === 'ConfigMap')?.data as Record<string, string> | undefined
  return { container: containers[0], volumes, config: data?.['sonde.yaml'] ?? '' }
}

/** The variables of a container, as the kubelet would set them. */
export function environmentOf({ env }: TestContainer): Record<string, string> {
  return Object.fromEntries(env.map(({ name, value }) => [name, value ?? NODE_NAME]))
}
