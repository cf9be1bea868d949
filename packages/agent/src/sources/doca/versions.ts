import { realpathSync } from 'node:fs'
import { basename } from 'node:path'
import { readLine } from '../chains/attributes.ts'
import { type Ground, Refusal } from '../chains/ground.ts'

/** The version of a library by its file behind the link: `2.10.0087`; undefined where the name tells none. */
export function libraryVersion(path: string): string | undefined {
  try {
    return /\.so\.(\d+\.\d[\d.]*)$/.exec(basename(realpathSync(path)))?.[1]
  } catch {
    return undefined
  }
}

/** The version of mlx5_core where it has one of its own, as that of MLNX_OFED has, and of the kernel. */
export async function driverVersion(ground: Ground): Promise<string> {
  const own = await readLine(ground, `${ground.sysfs}/module/mlx5_core/version`)
  const kernel = await readLine(ground, `${ground.procfs}/sys/kernel/osrelease`)
  const kernelWords = kernel instanceof Refusal ? 'the kernel' : `kernel ${kernel}`
  return own instanceof Refusal ? `mlx5_core of ${kernelWords}` : `mlx5_core ${own}, ${kernelWords}`
}
