import { checkQueue, printable, repairQueue } from '@sonde/sdk/internal'

/**
 * `sonde check QUEUE`: reads every record in the folder of a queue, and compares them with its ledger. Exit code 1 if
 * something is wrong and was not repaired.
 */
export async function checkQueueFolder(folder: string, { repair }: { readonly repair: boolean }): Promise<number> {
  const found = await (repair ? repairQueue(folder) : checkQueue(folder))
  const { segments, out, dropped, queued, unreadable, faults, repaired } = found
  console.log(`queue     ${printable(folder)}, ${segments} files`)
  console.log(`ledger    in ${found.in} = out ${out} + dropped ${dropped} + queued ${queued}`)
  if (unreadable > 0) console.log(`lost      ${unreadable} of the queued records cannot be read`)
  for (const sentence of repaired) console.log(`repaired  ${printable(sentence)}`)
  for (const sentence of faults) console.log(`${repair ? 'remains ' : 'damaged '}  ${printable(sentence)}`)
  return faults.length === 0 || repair ? 0 : 1
}
