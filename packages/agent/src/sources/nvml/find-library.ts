import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'

// Finds the library without loading it. This runs in the agent's own process, which must not run foreign code.

const NAME = 'libnvidia-ml.so.1'
const TRIPLET = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu'
/** Folders of distribution packages, of the container runtime, and of NVIDIA's operator for Kubernetes. */
const FOLDERS = [
  ...[`/usr/lib/${TRIPLET}`, '/usr/lib64', '/usr/lib', '/usr/local/nvidia/lib64', '/usr/local/nvidia/lib'],
  ...['/run/nvidia/driver/usr/lib64', `/run/nvidia/driver/usr/lib/${TRIPLET}`, '/usr/lib/wsl/lib'],
]
const INSTALL = 'install the NVIDIA driver, run the container with its runtime, or say where it is: native.nvml_library'

/**
 * Finds the library.
 *
 * @param configured `native.nvml_library`: the library or its folder; if empty, the usual folders are searched.
 * @returns Path of the library, or why it was not found.
 */
export function findNvmlLibrary(configured = ''): { readonly path: string } | string {
  if (configured !== '') {
    const path = isFolder(configured) ? join(configured, NAME) : configured
    return existsSync(path)
      ? { path }
      : `native.nvml_library ${JSON.stringify(configured)}: no ${NAME} there; ${INSTALL}`
  }
  const given = (process.env.LD_LIBRARY_PATH ?? '').split(':').filter((folder) => folder.startsWith('/'))
  const path = [...given, ...FOLDERS].map((folder) => join(folder, NAME)).find((one) => existsSync(one))
  return path === undefined ? `no ${NAME}: ${INSTALL}` : { path }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
