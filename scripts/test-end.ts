// Ends the shared parts of the test files of one process.

const ends: (() => unknown)[] = []

/** Whether the files of this process may share something. Node, where it runs a file directly, would not end it. */
export const mayShare: boolean = process.env.SONDE_TEST_FILES !== undefined

/** Calls `end` when all files of the process have ended. */
export function atEnd(end: () => unknown): void {
  ends.push(end)
}

/** Ends everything that is shared, the latest first. */
export async function endAll(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end()
}
