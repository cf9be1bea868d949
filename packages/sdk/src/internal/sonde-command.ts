/**
 * How a person calls `sonde` from a shell, as whoever started this process did: a clone runs its sources, and has the
 * command through npx alone; npm says so itself to everything that `npx` and `npm start` run.
 */
export function sondeCommand(): string {
  const isClone = import.meta.url.endsWith('.ts')
  return isClone || process.env.npm_command !== undefined ? 'npx sonde' : 'sonde'
}
