import { realpathSync } from 'node:fs'
import { basename } from 'node:path'
import type { SourceVersion } from '@sonde/sdk/api'
import { readAs, readLine } from '../chains/attributes.ts'
import { type ChainContext, KernelContext, ReadRefusal } from '../chains/chain-context.ts'
import { isNumber, parseAttribute } from '../kernel-text.ts'
import type { SourcePaths } from '../source.ts'
import { findDocaLibrary } from './find-library.ts'

/** Reasons for a kernel taint that concern drivers, by bit. The others are shown by their number. */
const TAINTS: readonly (readonly [bit: number, words: string])[] = [
  [0, 'a proprietary module'],
  [1, 'a module loaded by force'],
  [7, 'a crash of the kernel'],
  [9, 'a warning of the kernel'],
  [12, 'a module from outside'],
  [13, 'a module without signature'],
  [19, 'debugging through fwctl'],
]

/**
 * Returns the versions that matter to DOCA sources: library, driver, firmware of each device, and taint of the kernel.
 */
export async function docaVersions(paths: SourcePaths): Promise<SourceVersion[]> {
  const context = new KernelContext(paths)
  const found = findDocaLibrary(paths.doca_library)
  const library = typeof found === 'string' ? found : (libraryVersion(found.telemetry) ?? `unknown: ${found.telemetry}`)
  return [
    { of: 'DOCA', version: library },
    { of: 'driver', version: await driverVersion(context) },
    ...(await firmwareVersions(context)),
    { of: 'kernel taint', version: await taintOf(context) },
  ]
}

/** Returns the version in the file name of a library, such as `2.10.0087`; undefined if the name has none. */
export function libraryVersion(path: string): string | undefined {
  try {
    return /\.so\.(\d+\.\d[\d.]*)$/.exec(basename(realpathSync(path)))?.[1]
  } catch {
    return undefined
  }
}

/** Returns the version of mlx5_core, if it has its own as in MLNX_OFED, and the version of the kernel. */
export async function driverVersion(context: ChainContext): Promise<string> {
  const own = await readLine(context, `${context.sysfs}/module/mlx5_core/version`)
  const kernel = await readLine(context, `${context.procfs}/sys/kernel/osrelease`)
  const kernelWords = kernel instanceof ReadRefusal ? 'an unknown kernel' : `kernel ${kernel}`
  return own instanceof ReadRefusal ? `mlx5_core of ${kernelWords}` : `mlx5_core ${own}, ${kernelWords}`
}

async function firmwareVersions(context: ChainContext): Promise<SourceVersion[]> {
  const folder = `${context.sysfs}/class/infiniband`
  const names = await context.list(folder)
  const checks = (names instanceof ReadRefusal ? [] : names).map(async (name) => {
    const version = await readLine(context, `${folder}/${name}/fw_ver`)
    return { of: `firmware of ${name}`, version: version instanceof ReadRefusal ? version.words : version }
  })
  return Promise.all(checks)
}

/** Returns the reasons why the kernel is tainted, in words. */
export async function taintOf(context: ChainContext): Promise<string> {
  const found = await readAs(context, `${context.procfs}/sys/kernel/tainted`, parseAttribute)
  if (found instanceof ReadRefusal) return found.words
  if (!isNumber(found)) return 'no number'
  const bits = BigInt(found)
  if (bits === 0n) return 'none'
  const words = TAINTS.filter(([bit]) => (bits >> BigInt(bit)) & 1n).map(([, text]) => text)
  return [String(bits), ...words].join(', ')
}
