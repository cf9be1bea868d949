import { testHistory } from '../../../sdk/test/test-history.ts'
import { openStore } from '../../test/open-store.ts'

testHistory('the head of the store', async () => {
  const { store, close } = await openStore()
  return { history: store, accept: (batch) => store.accept(batch), settle: () => store.flush(), close }
})

testHistory('the chunks of the store', async () => {
  const { store, close } = await openStore()
  const settle = async () => {
    await store.flush()
    await store.maintain()
  }
  return { history: store, accept: (batch) => store.accept(batch), settle, close }
})
