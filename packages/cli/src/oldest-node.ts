/** The oldest Node that runs Sonde, as in `engines` of the manifest. */
const OLDEST = { major: 22, minor: 18 }

/**
 * Returns an error text if the Node of this process is too old, else undefined. Such a Node cannot load the command,
 * and its own message only names a module.
 */
export function nodeFault(): string | undefined {
  const { node } = process.versions
  const [major = 0, minor = 0] = node.split('.').map(Number)
  if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) return undefined
  const needed = `${OLDEST.major}.${OLDEST.minor}`
  return `Sonde needs Node ${needed} or newer, and this is ${node}; run it with a newer Node`
}
