# env
