import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gpuStack } from '@sonde/console'
import { sondeCommand } from '@sonde/sdk/internal'
import { ConfigError } from '../config/config-error.ts'
import type { Loaded } from '../config/load.ts'
import { renderChart } from '../manifests/chart.ts'
import { readValues } from '../manifests/values/read-values.ts'
import { readParams } from './params.ts'

/** Options of `sonde manifests`. */
export interface ManifestsFlags {
  readonly values?: readonly string[]
  readonly set?: readonly string[]
  readonly name: string
  readonly namespace: string
}

const NAME = /^[a-z0-9]([-a-z0-9]{0,51}[a-z0-9])?$/

/** `sonde manifests`: the objects of the chart with the values of the user, for `kubectl apply`. */
export function printManifests({ values = [], set = [], name, namespace }: ManifestsFlags): void {
  for (const [option, text] of Object.entries({ name, namespace }))
    if (!NAME.test(text))
      throw new ConfigError([
        `--${option} is ${JSON.stringify(text)}; allowed: a name of small letters, digits and -, at most 53`,
      ])
  process.stdout.write(renderChart(readValues(values, set), { name, namespace, managedBy: 'sonde' }))
}

/** `sonde manifests gpu-stack`: what runs beside Sonde, by the parameters; printed, or written into a folder. */
export async function writeGpuStack(loaded: Loaded, dir: string | undefined): Promise<void> {
  const params = await readParams(loaded)
  const files = gpuStack((name) => params.value(name))
  if (files.length === 0)
    throw new ConfigError([
      `GPU observability is not enabled, so there is nothing to install; ${sondeCommand()} params set gpu_observability_enable=true nvidia_device_plugin_enable=true`,
    ])
  if (dir === undefined) {
    process.stdout.write(files.map(({ name, text }) => `# ${name}\n${text}`).join('---\n'))
    return
  }
  mkdirSync(dir, { recursive: true })
  for (const { name, text } of files) {
    writeFileSync(join(dir, name), text)
    console.log(`wrote ${resolve(dir, name)}`)
  }
}
